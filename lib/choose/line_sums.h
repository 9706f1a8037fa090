// Sums under windows that reach beyond lines and columns whose number only a run knows: line by line.
#pragma once
#include "choose/chooser.h"
#include "choose/loop_nest.h"

namespace svod {

/// Whether a kernel is a sum under windows of its own elements (a depthwise convolution, a pool) whose loop over the
/// lines of a window ends where the picture does, once lanes run along `column`: no copy with padding is needed.
bool sumsLines(const Chooser& chooser, UOp column, int64_t width);

/// Lanes along a line, some vectors at once, and all columns of a window written out; lines of it are a loop. False
/// where sumsLines() is.
bool sumByLines(Chooser& chooser, const LoopNest& nest);

}  // namespace svod
