#include "choose/register_tile.h"

#include <algorithm>

#include "choose/dot_products.h"
#include "choose/laid_out.h"
#include "choose/local_buffers.h"
#include "choose/parameters.h"
#include "cost/cost.h"
#include "facts/accesses.h"

namespace svod {

namespace {

// What one step of the innermost loop of a reduce (or of a store without reduce) does with lanes along one
// axis.
class TileChoice {
 public:
  TileChoice(const Chooser& c, UOp reduce, Lanes lanes, int64_t maxVectors, UOp held)
      : c_(c), reduce_(reduce), lanes_(lanes), maxVectors_(maxVectors), held_(held) {
    copies_ = std::ranges::any_of(c.facts().nodes, [](UOp n) { return n.op() == Op::Stage && isGated(n); });
    std::vector<Access> all = c.facts().accesses;
    for (UOp n : toposort(reduce.src(0))) {
      bool inside = std::ranges::any_of(reduce.src().subspan(1), [&](UOp r) { return n.dependsOn(r); });
      if (!inside) continue;
      auto access = std::ranges::find(all, n, &Access::node);
      if (access != all.end())
        loads_.push_back(*access);
      else
        arithmetic_ += opWeight(n);
    }
    // A product joins the addition into one instruction.
    if (c.caps.numerics != Numerics::Strict && reduce.src(0).op() == Op::Mul) arithmetic_ -= 1;
    arithmetic_ += 1;
    if (sumsGroups(reduce)) arithmetic_ = 1;
  }

  RegisterTile best() const {
    RegisterTile best;
    double bestCost = cost(best);
    for (const RegisterTile& tile : candidates())
      if (double other = cost(tile); other < parameters::kClearlyCheaper * bestCost) best = tile, bestCost = other;
    return best;
  }

 private:
  std::vector<RegisterTile> candidates() const {
    std::vector<RegisterTile> all;
    std::vector<UOp> rowAxes{UOp()};
    for (const Axis& axis : c_.facts().axes)
      if (axis.nest != Nest::Reduce && axis.range != lanes_.range && reduce_.src(0).dependsOn(axis.range) &&
          axisType(axis.range) == AxisType::Loop && maxExtent(axis.range) > 1 && isReusedAlong(axis.range))
        rowAxes.push_back(axis.range);
    for (int64_t vectors : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16})
      for (UOp axis : rowAxes)
        for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14})
          if ((rows > 1) == static_cast<bool>(axis) && fits(axis, rows, vectors)) all.push_back({axis, rows, vectors});
    std::ranges::stable_sort(all, {}, [](const RegisterTile& t) { return std::pair(t.rows * t.vectors, -t.rows); });
    return all;
  }

  // More rows make sense where they use the same element.
  bool isReusedAlong(UOp axis) const {
    return (axis == held_ || !fillsStage(c_.facts(), axis)) &&
           std::ranges::any_of(loads_, [&](const Access& a) { return !a.node.dependsOn(axis); });
  }

  // Accumulators and what is loaded for one row must stay in registers with some to spare (more where a copy with
  // gates keeps its masks and counters), and no part may be empty.
  bool fits(UOp axis, int64_t rows, int64_t vectors) const {
    int64_t steps = ceilDiv(maxExtent(lanes_.range), lanes_.width), registers = c_.caps.vectorRegisters;
    if (vectors > std::min(steps, maxVectors_) || (axis && rows > maxExtent(axis))) return false;
    int64_t held = axis ? vectors : 0;  // one row takes its operand from memory
    return rows * vectors + held + 1 <= registers - (copies_ ? registers / 5 : registers / 10);
  }

  // Too large for the second level cache beside a panel.
  bool isFar(const Access& load) const { return bytesRead(load) > static_cast<double>(c_.caps.l2Bytes) / 2; }

  // Lines of the cache that each step along the reduce touches for an element shared by all lanes, where the next step
  // touches others.
  double freshLines(const Access& load, const RegisterTile& t) const {
    const auto bytes = static_cast<double>(byteSize(load.node.dtype())), line = static_cast<double>(c_.caps.lineBytes);
    const UOp step = reduce_.src().back();
    if (!load.slot || isLaidOut(c_, *load.slot) || std::abs(strideOf(load, step).value_or(0)) * bytes < line) return 0;
    if (!t.rowAxis || !load.node.dependsOn(t.rowAxis)) return 1;
    const double apart = static_cast<double>(std::abs(strideOf(load, t.rowAxis).value_or(INT32_MAX))) * bytes;
    return 1 + static_cast<double>(t.rows - 1) * std::min(1.0, apart / line);
  }

  static double useful(int64_t extent, int64_t part) {
    int64_t blocks = ceilDiv(extent, part);
    double share = static_cast<double>(extent) / static_cast<double>(blocks * part);
    return extent % part == 0 ? 1 : parameters::kUneven * share;
  }

  // Cycles per useful vector of the tile: arithmetic, load ports or latency, whichever is most, and what
  // memory and the loop add. An element shared by all lanes comes from a matrix that is streamed again for
  // every column tile; a vector comes from a panel in the second level cache, or across cache lines.
  double cost(const RegisterTile& t) const {
    using namespace parameters;
    double loads = 0, memory = 0, copies = static_cast<double>(t.rows * t.vectors);
    for (const Access& load : loads_) {
      bool vector = load.node.dependsOn(lanes_.range);
      double n = vector ? static_cast<double>(t.vectors) : 1;
      if (t.rowAxis && load.node.dependsOn(t.rowAxis)) n *= static_cast<double>(t.rows);
      // A row that comes from far and serves one row of the result only: long runs keep the prefetchers busy.
      if (vector && !t.rowAxis && isFar(load)) memory += kRunStart;
      loads += n, memory += n * (vector ? kVectorCycles : isFar(load) ? kFarCycles : kScalarCycles);
      if (!vector) memory += kLineCycles * freshLines(load, t);
    }
    double work = std::max(arithmetic_, 1.0) * copies / c_.caps.fmaPerCycle;
    double cycles = std::max({work, loads * kPortCycles, static_cast<double>(c_.caps.fmaLatency)});
    cycles += memory + kTurnCycles;
    double share = t.rowAxis ? useful(maxExtent(t.rowAxis), t.rows) : 1;
    share *= useful(ceilDiv(maxExtent(lanes_.range), lanes_.width), t.vectors);
    return cycles / (copies * share);
  }

  const Chooser& c_;
  UOp reduce_;
  Lanes lanes_;
  int64_t maxVectors_;
  UOp held_;
  std::vector<Access> loads_;
  double arithmetic_ = 0;
  bool copies_ = false;  // the kernel fills a local buffer behind gates
};

}  // namespace

RegisterTile chooseRegisterTile(const Chooser& chooser, UOp reduce, const Lanes& lanes, int64_t maxVectors, UOp held) {
  return TileChoice(chooser, reduce, lanes, maxVectors, held).best();
}

std::string registersText(const Chooser& chooser, const RegisterTile& tile) {
  return std::to_string(tile.rows) + " x " + std::to_string(tile.vectors) + " results in " +
         std::to_string(chooser.caps.vectorRegisters) + " registers share what they load";
}

}  // namespace svod
