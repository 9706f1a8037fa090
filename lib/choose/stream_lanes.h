// Elementwise loops: lanes along a loop without reduce.
#pragma once
#include "choose/loop_nest.h"

namespace svod {

/// A few vectors per iteration, where that leaves no remainder.
void widenStreams(Chooser& chooser, const LoopNest& nest);

}  // namespace svod
