// Dot product instructions: sums of products of bytes and of bf16 in groups.
#pragma once
#include "choose/chooser.h"
#include "cost/windows.h"

namespace svod {

/// Sums of products of bytes and of bf16 in groups, where the CPU has instructions for that.
void useDots(Chooser& chooser);
/// The same for a convolution that reads a copy of what its windows read: some channels are a group. How many; 0 where
/// there are fewer channels, or the CPU has no instruction.
int64_t groupChannels(Chooser& chooser, const Windows& windows);

}  // namespace svod
