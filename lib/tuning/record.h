// One line of a tuning log: a kernel or a graph, what became of one candidate for it, or what a graph gained.
#pragma once
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/result.h"
#include "tuning/outcomes.h"

namespace svod {

/// A kernel that candidates are for: what it computes, as text.
struct KernelRecord {
  std::string kernel;    // 32 hexadecimal digits that name what it computes
  std::string name;      // in the plan it was tuned for; for people
  std::string text;      // .uop
  int64_t launches = 0;  // steps of the graphs it was tuned for that run it; 0: not known
  auto operator<=>(const KernelRecord&) const = default;
};

/// A graph whose decisions plans are made with, and the kernels of its baseline plan.
struct GraphRecord {
  std::string graph;                             // 32 digits: what it computes and how it names its values
  std::string name;                              // of its file; for people
  std::string target = {}, compiler = {};        // as those of a trial, of the baseline plan
  std::vector<std::string> decisions = {};       // about the graph, that were asked for
  std::map<std::string, int64_t> launches = {};  // steps, by KernelRecord::kernel; none: not known
  auto operator<=>(const GraphRecord&) const = default;
};

/// What became of something that was tried. Times are nanoseconds, and 0 where there is none.
struct TrialRecord {
  std::string target;                  // what code is made for: target, triple, processor, numerics
  std::string machine;                 // that it ran on
  std::string compiler;                // which compiler made the code, to the bit
  std::vector<std::string> decisions;  // about the graph, that were asked for
  std::string origin;                  // what proposed it
  Outcome outcome = Outcome::Started;
  std::string reason;      // of a failure; of a list that lost, where that was
  double predicted = 0;    // what the cost model expects
  double nanoseconds = 0;  // median; of a slow one what it had taken when it was stopped
  double noise = 0;        // half the range between the quartiles, as a part of the median
  double ratio = 0;        // wins and loses: the time as a part of that of -O1, both interleaved
  int64_t runs = 0;
  /// Wins and loses: how far the worst value is off, in units of the last place of the greatest. Nothing: not known.
  std::optional<double> ulp;
  bool operator==(const TrialRecord&) const = default;
};

/// A list of opts for a kernel. Times are those of one thread.
struct CandidateRecord : TrialRecord {
  std::string kernel;  // as KernelRecord::kernel
  std::string opts;    // loops by name
  int64_t number = 0;  // the how-many-th candidate of its kernel that the writer knew of; 0: not known
  bool operator==(const CandidateRecord&) const = default;
};

/// Decisions about a graph. Times are those of the whole plan, its kernels tuned as well as the log can.
struct PlanRecord : TrialRecord {
  std::string graph;  // as GraphRecord::graph
  bool operator==(const PlanRecord&) const = default;
};

/// The plan of a graph with all winners of the log beside that of -O1, both interleaved on all processors there are.
struct GainRecord {
  std::string graph, target, machine, compiler;               // as those of a plan
  std::vector<std::string> asked = {};                        // decisions that were asked for, in both plans
  std::vector<std::string> decisions;                         // those of the log
  std::vector<std::vector<std::string>> passed = {};          // that won, and that the graph does not have
  std::map<std::string, std::optional<std::string>> kernels;  // of the plan, with the opts that won
  double baseline = 0;                                        // nanoseconds of the plan of -O1, with warm caches
  double warm = 0, cold = 0;                                  // the time as a part of it
  bool operator==(const GainRecord&) const = default;
};

using TuningRecord = std::variant<KernelRecord, CandidateRecord, GraphRecord, PlanRecord, GainRecord>;

/// One JSON object without a line end. Keys have a fixed order, so equal records give equal lines.
std::string toLine(const TuningRecord& record);

/// Reads what toLine wrote; members it does not know are dropped. Errors: Syntax, in a few words without a place;
/// Unsupported for a line of a later form.
Result<TuningRecord> recordFromLine(std::string_view line);

}  // namespace svod
