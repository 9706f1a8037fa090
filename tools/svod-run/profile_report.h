// Times of the kernels as a table, as JSON, and as a trace.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "svod/runtime.h"

namespace svod {

/// All calls of kernels with one name together.
struct ProfileRow {
  std::string name, kind;
  uint64_t calls = 0, busyNs = 0, wallNs = 0, bytes = 0, flops = 0;
};

/// "12.34 us", "1.20 ms" or "15.00 s".
std::string durationText(double seconds);

/// Longest first.
std::vector<ProfileRow> profileRows(const svod_instance* instance);

/// kernel, calls, time, share, GB/s, GFLOP/s. Time is summed over threads; the rates use the time a call
/// took.
std::string profileText(const std::vector<ProfileRow>& rows);
nlohmann::ordered_json profileJson(const std::vector<ProfileRow>& rows);

/// In the trace event format that Perfetto and chrome://tracing read.
std::string traceJson(const svod_instance* instance);

}  // namespace svod
