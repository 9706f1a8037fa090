// Dot product instructions: sums of products of bytes and of bf16 in groups.
#pragma once
#include <optional>

#include "choose/chooser.h"
#include "cost/windows.h"

namespace svod {

/// Sums of products of bytes and of bf16 in groups, where the CPU has instructions for that.
void useDots(Chooser& chooser);
/// So many channels at a time, of a loop over them.
struct ChannelGroups {
  int64_t size;
  uint32_t loop;
};
/// The same for a convolution that reads a copy of what its windows read. Nothing where there are fewer channels than a
/// group has, or the CPU has no instruction.
std::optional<ChannelGroups> groupChannels(Chooser& chooser, const Windows& windows);

}  // namespace svod
