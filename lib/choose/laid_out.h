// Weights that stand in memory as the kernel reads them.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Whether the operand will stand in memory in the order in which the kernel reads it: any loop walks it as lanes do,
/// and a panel of it needs no copy. And the slots of all such operands.
bool isLaidOut(const Chooser& chooser, uint32_t slot);
std::vector<uint32_t> laidOutSlots(const Chooser& chooser);

}  // namespace svod
