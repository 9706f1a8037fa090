#include "lower/accumulator.h"

#include <algorithm>

namespace svod {

UOp accumulate(Graph& graph, uint32_t slot, AccumulatorType type, UOp start, std::span<const UOp> loops,
               std::span<const UOp> values, const std::function<UOp(UOp)>& fold) {
  const auto [dtype, width] = type;
  UOp size = graph.index(width), acc = graph.buffer(dtype, {&size, 1}, {slot, Space::Reg});
  UOp zero = graph.index(0);
  UOp at = width == 1 ? zero : graph.make(Op::Ramp, DType::Index, {zero}, SlotArg{static_cast<uint32_t>(width)});
  std::vector<UOp> outer{acc};
  for (UOp v : values)
    for (UOp r : v.ranges())
      if (std::find(loops.begin(), loops.end(), r) == loops.end() &&
          std::find(outer.begin(), outer.end(), r) == outer.end())
        outer.push_back(r);
  UOp fresh = outer.size() == 1 ? acc : graph.make(Op::After, dtype, outer);
  UOp init = graph.make(Op::Store, DType::Void, {graph.indexInto(fresh, {&at, 1}), start});
  std::vector<UOp> inside{acc, init};
  inside.insert(inside.end(), loops.begin(), loops.end());
  UOp place = graph.indexInto(graph.make(Op::After, dtype, inside), {&at, 1});
  UOp update = graph.make(Op::Store, DType::Void, {place, fold(graph.load(place))});
  std::vector<UOp> end{update};
  end.insert(end.end(), loops.begin(), loops.end());
  UOp done = graph.make(Op::After, dtype, {acc, graph.make(Op::End, DType::Void, end)});
  return graph.load(graph.indexInto(done, {&at, 1}));
}

}  // namespace svod
