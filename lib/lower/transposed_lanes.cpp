#include "lower/transposed_lanes.h"

namespace svod {

namespace {

void exchange(Graph& g, UOp& a, UOp& b, size_t bit) {
  const auto width = static_cast<size_t>(a.lanes());
  std::vector<UOp> low, high;
  for (size_t i = 0; i < width; ++i) {
    UOp from = (i & bit) == 0 ? a : b;
    low.push_back(laneOf(g, from, i & ~bit)), high.push_back(laneOf(g, from, i | bit));
  }
  UOp first = g.make(Op::Stack, a.dtype(), low);
  b = g.make(Op::Stack, a.dtype(), high);
  a = first;
}

}  // namespace

void transposeLanes(Graph& graph, std::span<UOp> registers) {
  for (size_t bit = 1; bit < registers.size(); bit *= 2)
    for (size_t r = 0; r < registers.size(); ++r)
      if ((r & bit) == 0) exchange(graph, registers[r], registers[r | bit], bit);
}

UOp laneOf(Graph& graph, UOp vector, size_t i) {
  return graph.make(Op::Lane, vector.dtype(), {vector}, SlotArg{static_cast<uint32_t>(i), Space::Reg});
}

}  // namespace svod
