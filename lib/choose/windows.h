// Copies of what windows read: what direct convolution and im2col share.
#pragma once
#include <span>
#include <vector>

#include "choose/chooser.h"
#include "cost/windows.h"

namespace svod {

/// Adds the loop inside of a tile of `amount` iterations: the inner one of a split, or the loop itself.
bool enterTile(Chooser& chooser, UOp loop, int64_t amount, std::vector<uint32_t>& inside);
/// Lines of other tiles, then filters, then what is inside of a tile.
bool orderLoops(Chooser& chooser, const Windows& windows, std::span<const uint32_t> inside);

}  // namespace svod
