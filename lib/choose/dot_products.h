// Dot product instructions: sums of products of bytes and of bf16 in groups.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Sums of products of bytes and of bf16 in groups, where the CPU has instructions for that.
void useDots(Chooser& chooser);

}  // namespace svod
