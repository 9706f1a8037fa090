#include "cost/register_tile.h"

#include <algorithm>
#include <cmath>

#include "cost/cost.h"
#include "cost/levels.h"
#include "cost/parameters.h"
#include "facts/local_buffers.h"
#include "facts/reduces.h"
#include "support/integers.h"

namespace svod {

namespace {

using namespace parameters;

bool isInside(UOp node, UOp reduce) {
  return std::ranges::any_of(reduce.src().subspan(1), [&](UOp r) { return node.dependsOn(r); });
}

// Exponentials and the like of one result, which stand behind the sum.
int64_t functionsOf(const KernelFacts& kernel, UOp reduce, UOp lane) {
  return std::ranges::count_if(
      kernel.nodes, [&](UOp n) { return has(n.op(), Transcend) && n.dependsOn(lane) && !isInside(n, reduce); });
}

// The share of a part's work that is no repetition.
double useful(int64_t extent, int64_t part) {
  const double share = static_cast<double>(extent) / static_cast<double>(roundUp(extent, part));
  return extent % part == 0 ? 1 : kUneven * share;
}

}  // namespace

RegisterTileCost::RegisterTileCost(const KernelFacts& kernel, const Caps& caps, UOp reduce, const Lanes& lanes,
                                   std::span<const uint32_t> laidOut)
    : caps_(caps), lanes_(lanes), functions_(functionsOf(kernel, reduce, lanes.range)),
      copies_(std::ranges::any_of(kernel.fills, isGated)) {
  const UOp step = reduce.src().back();
  for (UOp around : loopedReduces(kernel))
    if (around != reduce && isInside(reduce, around)) ++sums_;
  for (UOp n : toposort(reduce.src(0))) {
    if (!isInside(n, reduce)) continue;
    auto at = std::ranges::find(kernel.accesses, n, &Access::node);
    if (at == kernel.accesses.end()) {
      arithmetic_ += opWeight(n);
      continue;
    }
    const bool isLaidOut = at->slot && std::ranges::find(laidOut, *at->slot) != laidOut.end();
    const double apart = static_cast<double>(std::abs(strideOf(*at, step).value_or(0))) * byteSize(n.dtype());
    loads_.push_back({*at, !isResident(bytesRead(*at), caps),
                      at->slot && !isLaidOut && apart >= static_cast<double>(caps.lineBytes)});
  }
  // A product joins the addition into one instruction.
  if (caps.numerics != Numerics::Strict && reduce.src(0).op() == Op::Mul) arithmetic_ -= 1;
  arithmetic_ += 1;
  if (sumsGroups(reduce)) arithmetic_ = 1;
}

bool RegisterTileCost::isReusedAlong(UOp axis) const {
  return std::ranges::any_of(loads_, [&](const Load& load) { return !load.access.node.dependsOn(axis); });
}

bool RegisterTileCost::fits(const RegisterTile& t) const {
  const int64_t steps = ceilDiv(maxExtent(lanes_.range), lanes_.width), registers = caps_.vectorRegisters;
  if (t.vectors > steps || (t.rowAxis && t.rows > maxExtent(t.rowAxis))) return false;
  if (t.rows * t.vectors * functions_ > kMostFunctions) return false;
  // One row takes its operand from memory. A product whose rows are all in the tile holds the fewer of its operands,
  // and one of the others: what it reads once need not stay.
  const bool isShort = t.rowAxis && maxExtent(t.rowAxis) <= t.rows;
  const bool isProduct = isShort && arithmetic_ <= 1 && loads_.size() == 2 && !copies_ && caps_.vectorBytes > 16;
  const int64_t held = !t.rowAxis ? 0 : isProduct ? std::min(t.rows, t.vectors) : t.vectors;
  const int64_t spare = copies_ ? registers / 5 : registers / 10 - (isProduct ? 1 : 0);
  return t.rows * t.vectors * sums_ + held + 1 <= registers - spare;
}

// Lines of the cache that each step along the reduce touches for an element shared by all lanes.
double RegisterTileCost::freshLines(const Load& load, const RegisterTile& t) const {
  if (!load.startsLines) return 0;
  const UOp node = load.access.node;
  if (!t.rowAxis || !node.dependsOn(t.rowAxis)) return 1;
  const double apart =
      static_cast<double>(std::abs(strideOf(load.access, t.rowAxis).value_or(INT32_MAX))) * byteSize(node.dtype());
  return 1 + static_cast<double>(t.rows - 1) * std::min(1.0, apart / static_cast<double>(caps_.lineBytes));
}

double RegisterTileCost::cycles(const RegisterTile& t) const {
  double loads = 0, memory = 0;
  const auto copies = static_cast<double>(t.rows * t.vectors);
  for (const Load& load : loads_) {
    const UOp node = load.access.node;
    const bool isVector = node.dependsOn(lanes_.range);
    double n = isVector ? static_cast<double>(t.vectors) : 1;
    if (t.rowAxis && node.dependsOn(t.rowAxis)) n *= static_cast<double>(t.rows);
    // A row that comes from far and serves one row of the result only: long runs keep the prefetchers busy.
    if (isVector && !t.rowAxis && load.isFar) memory += kRunStart;
    loads += n, memory += n * (isVector ? kVectorCycles : load.isFar ? kFarCycles : kScalarCycles);
    if (!isVector) memory += kLineCycles * freshLines(load, t);
  }
  const double work = std::max(arithmetic_, 1.0) * copies / caps_.fmaPerCycle;
  double cycles = std::max({work, loads * kPortCycles, static_cast<double>(caps_.fmaLatency)});
  cycles += memory + kTurnCycles;
  double share = t.rowAxis ? useful(maxExtent(t.rowAxis), t.rows) : 1;
  share *= useful(ceilDiv(maxExtent(lanes_.range), lanes_.width), t.vectors);
  return cycles / (copies * share);
}

RegisterTile bestRegisterTile(const KernelFacts& kernel, const Caps& caps, std::span<const uint32_t> laidOut,
                              UOp reduce, const Lanes& lanes, int64_t maxVectors, UOp held) {
  const RegisterTileCost cost(kernel, caps, reduce, lanes, laidOut);
  std::vector<UOp> rowAxes{UOp()};
  for (const auto& [range, nest] : kernel.axes)
    if (nest != Nest::Reduce && range != lanes.range && reduce.src(0).dependsOn(range) &&
        axisType(range) == AxisType::Loop && maxExtent(range) > 1 && (range == held || !isInFill(kernel, range)) &&
        cost.isReusedAlong(range))
      rowAxes.push_back(range);
  std::vector<RegisterTile> tiles;
  for (int64_t vectors : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16})
    for (UOp axis : rowAxes)
      for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14})
        if ((rows > 1) == static_cast<bool>(axis) && vectors <= maxVectors) tiles.push_back({axis, rows, vectors});
  // From small to large, of one size those with more rows first.
  std::ranges::stable_sort(tiles, {}, [](const RegisterTile& t) { return std::pair(t.rows * t.vectors, -t.rows); });
  RegisterTile best;
  double least = cost.cycles(best);
  for (const RegisterTile& tile : tiles) {
    if (!cost.fits(tile)) continue;
    if (double other = cost.cycles(tile); other < kClearlyCheaper * least) best = tile, least = other;
  }
  return best;
}

std::string toText(const RegisterTile& tile, const Caps& caps) {
  return std::to_string(tile.rows) + " x " + std::to_string(tile.vectors) + " results in " +
         std::to_string(caps.vectorRegisters) + " registers share what they load";
}

}  // namespace svod
