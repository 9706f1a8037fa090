// What buffers local to a kernel take, in whichever form they are: as opts make them, and as threads fill them.
#pragma once
#include <cstdint>

#include "ir/uop.h"

namespace svod {

inline constexpr int64_t kLocalAlignment = 64;  // bytes, of each buffer

/// Bytes after which a swizzle of rows of so many bytes starts again.
int64_t swizzlePeriod(int64_t swizzle);

/// Elements of one stage of a buffer that is swizzled or turns as a ring: whole periods, or whole copies of 16 bytes.
int64_t stageElements(UOp buffer);

/// Of the buffer with all of its stages, aligned. `elements` are those of a stage where a fill has more of them than
/// the buffer; INT64_MAX where no number holds them.
int64_t localBytes(UOp buffer, int64_t elements = 0);

}  // namespace svod
