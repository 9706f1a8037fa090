// Calls of the prelude for what the lanes of a warp do together, and for instructions of GPUs (an internal header of
// the room).
#pragma once
#include <string>
#include <vector>

#include "target/grid/lane_text.h"

namespace svod {

struct CallText {
  std::vector<std::string> declarations;  // of its arguments
  std::string text;
};

/// "svod_f32x4"
std::string vectorType(UOp value);

CallText wmmaText(UOp wmma, const LaneText& text);
/// A row of gpu_ops.def is a function; those of values have one for each dtype, which is told the lanes there are:
/// `threads` are those of the workgroup.
CallText gpuText(UOp node, const LaneText& text, int64_t threads);

}  // namespace svod
