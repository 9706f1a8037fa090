// What the lanes of a warp touch together: sectors of memory and banks of the memory that a workgroup shares, from the
// index expressions of a list of instructions.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// One load, store or instruction of gpu_ops.def, by the first warp of the first workgroup in the first iteration of
/// its loops, with variables at their greatest values. Sectors have 32 bytes, wavefronts are the turns that 32 banks of
/// 4 bytes take; the least is what the elements touched would need side by side.
struct WarpTouch {
  UOp node, address;  // its Index
  bool isShared = false, isStore = false;
  int64_t bytes = 0;         // that one lane moves at once
  int pieces = 1;            // instructions that move a vector
  int lanes = 0;             // whose gate lets them
  int count = 0, least = 0;  // sectors, or wavefronts, of the first of them

  double ratio() const { return least > 0 ? static_cast<double>(count) / least : 1; }
};

/// Of parameters and Local buffers, in the order of the list. Accesses at loaded indices are left out, and those that
/// no lane makes.
std::vector<WarpTouch> warpTouches(std::span<const UOp> ops);

/// Wavefronts of lanes that touch `bytes` bytes each from these byte addresses on.
int wavefrontsOf(std::span<const int64_t> addresses, int64_t bytes);
int sectorsOf(std::span<const int64_t> addresses, int64_t bytes);

}  // namespace svod
