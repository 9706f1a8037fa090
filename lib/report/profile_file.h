// What svod-run measured, as it wrote it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "report/report.h"
#include "support/result.h"

namespace svod {

/// What a run took for one kernel, over all its calls. A trace does not say flops and bytes.
struct MeasuredKernel {
  double calls = 0, busyNs = 0, flops = 0, bytes = 0;
};

struct Measurements {
  std::map<std::string, MeasuredKernel> kernels;  // by name
  std::vector<TracedPart> events;                 // of a trace: its last run
};

/// What `svod-run --json` printed or `svod-run --trace` wrote; nothing for an empty path. Errors: Io, Usage when it is
/// something else.
Result<Measurements> readProfile(const std::string& path);

}  // namespace svod
