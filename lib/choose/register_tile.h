// Register blocking: how many rows and vectors of a result a micro kernel keeps in registers.
#pragma once
#include <string>

#include "choose/chooser.h"
#include "cost/register_tile.h"

namespace svod {

/// The tile with the least cycles. `held`: a loop for which local buffers will get a dim, so that it may be expanded.
RegisterTile chooseRegisterTile(const Chooser& chooser, UOp reduce, const Lanes& lanes, int64_t maxVectors,
                                UOp held = {});
/// Why rows and vectors are repeated, for Chooser::apply.
std::string registersText(const Chooser& chooser, const RegisterTile& tile);

}  // namespace svod
