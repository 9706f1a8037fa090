// What a tuning log says of one kernel, put together for people.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/winners.h"

namespace svod {

/// How often candidates failed in one way.
struct DropReason {
  Outcome outcome;
  std::string reason;
  int64_t count = 0;
};

/// One kernel and target. Times are of the machine that has most of the records.
struct KernelAccount {
  std::string kernel, target, name, machine;  // name: the hash where no record has one
  int64_t launches = 1;                       // of the baseline plans; 0: only plans with other decisions have it
  std::vector<CandidateRecord> candidates;    // of this machine, each list once with all that became of it, in order
  std::optional<CandidateRecord> baseline;    // that of -O1, if it was timed
  std::optional<Winner> winner;
  std::optional<CandidateRecord> won;  // what was measured of the winner
  std::map<Outcome, int64_t> outcomes;
  std::vector<DropReason> drops;  // most frequent first

  double ratio() const { return winner ? winner->ratio : 1; }
  /// Nanoseconds of all launches with the opts of -O1; 0: not known.
  double before() const { return baseline ? baseline->nanoseconds * static_cast<double>(launches) : 0; }
  double after() const { return before() * ratio(); }
};

/// One graph and target: its baseline plan, and what its plan with all winners gained.
struct GraphAccount {
  std::string graph, name, target;
  size_t kernels = 0, winners = 0;  // of the baseline plan
  bool isBaseline = false;          // nothing won
  std::vector<GainRecord> gains;    // as gainsOf() (winners.h), of this compiler, or where there are none of others
};
/// Of all graphs whose baseline plan or gain the log knows, by name.
std::vector<GraphAccount> graphAccountsOf(const TuningLog& log, std::string_view compiler);

/// What more time would not tell: the kernels that save most come first, then by name.
std::vector<KernelAccount> accountsOf(const TuningLog& log, std::string_view compiler);

/// One opt of -O1, of a winner, or of both.
struct OptDifference {
  enum class Kind : uint8_t { Kept, Changed, Removed, Added };
  Kind kind;
  std::string baseline, winner;  // Changed: the same kind of opt for the same loops, with other amounts
};

std::string_view nameOf(OptDifference::Kind kind);
/// Of two lists of opts as text, in the order of the winner; what only -O1 has comes last.
std::vector<OptDifference> differencesOf(std::string_view baseline, std::string_view winner);

}  // namespace svod
