// Times of the kernels as a table, as JSON, and as a trace.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "svod/runtime.h"

namespace svod {

/// All calls of kernels with one name together.
struct ProfileRow {
  std::string name, kind;
  uint64_t calls = 0, busyNs = 0, wallNs = 0, bytes = 0, flops = 0;
  std::vector<uint64_t> runNs;  // busy in each run, sorted; empty where runs were not told apart
};

/// What the kernels took in each run of several.
class ProfileHistory {
 public:
  /// After every run.
  void add(const svod_instance* instance);
  std::vector<uint64_t> of(const ProfileRow& row) const;  // sorted

 private:
  std::map<std::pair<std::string, std::string>, std::vector<uint64_t>> totals_;  // by kind and name, after each run
};

/// "12.34 us", "1.20 ms" or "15.00 s".
std::string durationText(double seconds);

/// Longest first.
std::vector<ProfileRow> profileRows(const svod_instance* instance, const ProfileHistory& history = {});

/// kernel, calls, time, share, GB/s, GFLOP/s; of several runs also the best, the median and the mean of a run. Time is
/// summed over threads; the rates use the time a call took.
std::string profileText(const std::vector<ProfileRow>& rows);
nlohmann::ordered_json profileJson(const std::vector<ProfileRow>& rows);

/// In the trace event format that Perfetto and chrome://tracing read.
std::string traceJson(const svod_instance* instance);

}  // namespace svod
