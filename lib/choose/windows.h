// Copies of what windows read: what the strategies for convolutions share.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "choose/chooser.h"
#include "cost/windows.h"

namespace svod {

/// Adds the loop inside of a tile of `amount` iterations: the inner one of a split, or the loop itself.
bool enterTile(Chooser& chooser, UOp loop, int64_t amount, std::vector<uint32_t>& inside);
/// Lines of other tiles, then filters, then what is inside of a tile.
bool orderLoops(Chooser& chooser, const Windows& windows, std::span<const uint32_t> inside);
/// Applies the copy (`window`) for so many lines at a time, whole ones. The loop over those; nothing where an opt does
/// not apply.
std::optional<uint32_t> copyLines(Chooser& chooser, const Windows& windows, int64_t lines);

}  // namespace svod
