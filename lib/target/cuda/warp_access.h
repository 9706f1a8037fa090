// What the memory of a GPU has to do for an access of a warp, computed from its index expressions.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "linearize/linear.h"

namespace svod {

/// Of all accesses of a kernel that are alike, for one instruction of the first whole warp in the first iteration of
/// every loop, with variables at their greatest values.
struct WarpAccess {
  bool isStore = false, isShared = false;
  uint32_t slot = 0;  // of the argument, or of the buffer of the workgroup
  int bytes = 0;      // of a lane
  int lanes = 0;      // whose gate lets them
  int count = 0;      // such accesses in the text of the kernel
  int transfers = 0,
      least = 0;  // sectors of 32 bytes that are touched, and that so many bytes take; of shared memory wavefronts
};

/// `threads` of a workgroup. Accesses whose address depends on what memory holds are left out.
std::vector<WarpAccess> warpAccessesOf(const LinearKernel& kernel, const std::array<uint64_t, 3>& threads);

/// Distinct sectors of 32 bytes. `addresses` are bytes, one for each lane that takes part.
int sectorsOf(const std::vector<int64_t>& addresses, int bytes);
/// Rounds in which 32 banks of 4 bytes serve all lanes: lanes of 8 and 16 bytes come in halves and quarters of a warp.
int wavefrontsOf(const std::vector<int64_t>& addresses, int bytes);

}  // namespace svod
