// How many processors there are for this process.
#pragma once
#include <cstddef>

namespace svod {

/// Those that it may run on, and no more than its control group pays for: a container of two and a half is given three.
size_t usableProcessors();

/// What the control groups of the process pay for, rounded up: the least of its own and of those above, of version 1
/// or 2. 0 where they set no bound, or the system does not say. `groups` is /proc/self/cgroup, `mount` what its paths
/// are below of.
size_t quotaProcessors(const char* groups, const char* mount);

}  // namespace svod
