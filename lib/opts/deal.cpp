#include "opts/deal.h"

#include "facts/axes.h"

namespace svod {

Dealt dealtToThreads(Graph& g, std::span<const UOp> loops, int64_t width, uint32_t id) {
  int64_t count = 1;
  for (UOp r : loops) count *= maxExtent(r);
  Dealt dealt;
  dealt.ranges.push_back(g.range(g.index(count / width), id, AxisType::Spread));
  dealt.place = dealt.ranges[0];
  if (width > 1) {
    dealt.ranges.push_back(g.range(g.index(width), id + 1, AxisType::Vector));
    dealt.place = g.alu(Op::Add, {g.alu(Op::Mul, {dealt.place, g.index(width)}), dealt.ranges[1]});
  }
  dealt.at.resize(loops.size());
  int64_t inner = 1;  // elements of the loops inside
  for (size_t i = loops.size(); i-- > 0; inner *= maxExtent(loops[i]))
    dealt.at[i] = g.alu(Op::Floormod, {g.alu(Op::Floordiv, {dealt.place, g.index(inner)}), loops[i].src(0)});
  return dealt;
}

}  // namespace svod
