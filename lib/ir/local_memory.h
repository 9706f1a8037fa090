// What buffers local to a kernel take, in whichever form they are: as opts make them, and as threads fill them.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "ir/uop.h"

namespace svod {

inline constexpr int64_t kLocalAlignment = 64;  // bytes, of each buffer
inline constexpr int64_t kMostStages = 8;       // of a ring

/// Whether rows of so many bytes may be swizzled: a power of two, from two pieces of 16 bytes on.
inline constexpr int64_t kLeastSwizzle = 32, kMostSwizzle = 1024;
constexpr bool isSwizzle(int64_t bytes) {
  return bytes >= kLeastSwizzle && bytes <= kMostSwizzle && std::has_single_bit(static_cast<uint64_t>(bytes));
}
/// As SlotArg::swizzle has it.
constexpr uint8_t swizzleOf(int64_t bytes) {
  return static_cast<uint8_t>(std::countr_zero(static_cast<uint64_t>(bytes)));
}

/// Bytes after which a swizzle of rows of so many bytes starts again.
int64_t swizzlePeriod(int64_t swizzle);

/// Elements of one stage of a buffer that is swizzled or turns as a ring: whole periods, or whole copies of 16 bytes.
int64_t stageElements(UOp buffer);

/// Of the buffer with all of its stages, aligned. `elements` are those of a stage where a fill has more of them than
/// the buffer; INT64_MAX where no number holds them.
int64_t localBytes(UOp buffer, int64_t elements = 0);

struct LocalPlace {
  UOp buffer;
  int64_t offset;  // bytes
};
/// Buffers one behind the other in order of their slots, those first that are whole periods of factors of a warpgroup
/// (warpgroup_operand.h): so these start at one.
std::vector<LocalPlace> placesOf(std::vector<UOp> buffers);

}  // namespace svod
