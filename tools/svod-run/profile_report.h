// Profiles: times of the kernels as a table, as JSON, and as a trace.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run_gaps.h"
#include "svod/runtime.h"

namespace svod {

/// All calls of steps with one name together.
struct ProfileRow {
  std::string name, kind;
  uint64_t calls = 0, busyNs = 0, wallNs = 0, bytes = 0, flops = 0;
  std::vector<uint64_t> runNs;  // busy in each run, sorted; empty where runs were not told apart
};

/// What the rows of a profile are called, by step: as stepNames gives them. Empty: by their kernels.
using StepNames = std::vector<std::string>;

/// What the rows took in each run of several.
class ProfileHistory {
 public:
  explicit ProfileHistory(const StepNames& names) : names_(names) {}
  /// After every run.
  void add(const svod_instance* instance);
  std::vector<uint64_t> of(const ProfileRow& row) const;  // sorted

 private:
  StepNames names_;
  std::map<std::pair<std::string, std::string>, std::vector<uint64_t>> totals_;  // by kind and name, after each run
};

/// "12.34 us", "1.20 ms" or "15.00 s".
std::string durationText(double seconds);

/// Longest first.
std::vector<ProfileRow> profileRows(const svod_instance* instance, const StepNames& names,
                                    const ProfileHistory* history = nullptr);

/// What no step took, as a row; nothing where RunGaps has nothing.
std::optional<ProfileRow> gapRow(const RunGaps& gaps);

/// `title`, calls, time, share, GB/s, GFLOP/s; of several runs also the best, the median and the mean of a run. Time is
/// summed over threads; the rates use the time a call took. `gap` stands before the total, and takes part in it.
/// `columns` of the terminal, or 0.
std::string profileText(const std::vector<ProfileRow>& rows, const std::string& title,
                        const std::optional<ProfileRow>& gap, size_t columns);
nlohmann::ordered_json profileJson(const std::vector<ProfileRow>& rows);

/// In the trace event format that Perfetto and chrome://tracing read.
std::string traceJson(const svod_instance* instance);

}  // namespace svod
