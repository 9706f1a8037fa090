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
/// How many lines one copy may have, to be tried in this order: all of them, and fewer that are evenly dealt. Where
/// only a run knows how many there are, some that copy few lines twice.
std::vector<int64_t> linesOfCopy(const Windows& windows);
/// How many columns one copy has: whole lines. Where only a run knows how long they are, at most some vectors.
int64_t columnsOfCopy(const Windows& windows, int64_t lanes);
/// The loops over the lines of one copy, and along them.
struct CopiedLines {
  uint32_t line, column;
};
/// Applies the copy (`window`) for so many lines and columns at a time. Nothing where an opt does not apply.
std::optional<CopiedLines> copyLines(Chooser& chooser, const Windows& windows, int64_t lines, int64_t columns);
/// A kernel that reads the copy.
struct CopiedWindows {
  Chooser kernel;
  CopiedLines loops;
};
/// With as many lines in one copy as stay in the cache; nothing where not even one does.
std::optional<CopiedWindows> copyThatStays(const Chooser& chooser, const Windows& windows, int64_t columns);

}  // namespace svod
