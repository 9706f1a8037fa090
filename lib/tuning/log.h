// A tuning log: lines that are only ever appended, and what all of them say together.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/record.h"

namespace svod {

/// A set of records, in the order of their lines. A Started record is in it only as long as nothing else is known of
/// the candidate.
struct TuningLog {
  std::vector<KernelRecord> kernels;
  std::vector<CandidateRecord> candidates;
  std::vector<GraphRecord> graphs = {};
  std::vector<PlanRecord> plans = {};
  std::vector<GainRecord> gains = {};
  bool operator==(const TuningLog&) const = default;
};

/// What a text held besides records.
struct UnreadLines {
  std::vector<size_t> malformed;  // numbers of lines, from 1
  std::string firstProblem;
  bool tornEnd = false;  // the last line has no end: who wrote it was stopped. It is left out, whatever it says.
};

/// Lines that are no record are left out. Errors: Unsupported for records of a later form.
Result<TuningLog> parseTuningLog(std::string_view text, UnreadLines& unread);

/// Everything that is in one of them. Idempotent, commutative and associative.
TuningLog merged(std::span<const TuningLog> logs);

/// One line per record, sorted: equal logs give equal bytes.
std::string toText(const TuningLog& log);

/// Of lists that neither won, lost nor failed only the `fastest` of each kernel, target, machine and compiler, and of
/// gains those that gainsOf() (winners.h) names: winners and gains stay the same.
TuningLog pruned(const TuningLog& log, size_t fastest = 0);

}  // namespace svod
