// What this machine says about itself.
#pragma once
#include <cstdint>
#include <string>

namespace svod {

/// Data cache sizes of the first CPU in bytes; 0 where the system does not tell.
struct HostCaches {
  int64_t l1 = 0, l2 = 0, l3 = 0, line = 0;
};
HostCaches hostCaches();

/// "GenuineIntel", "AuthenticAMD", ..; empty where the architecture has no such word.
std::string hostVendor();

/// Processors this process may run on, at least 1.
int hostCores();
/// Processors of the machine, whatever this process is bound to.
int hostProcessors();

}  // namespace svod
