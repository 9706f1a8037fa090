#include "opts/deal.h"

#include "facts/axes.h"
#include "symbolic/symbolic.h"

namespace svod {

Dealt dealtToThreads(Graph& g, std::span<const UOp> loops, int64_t width, uint32_t id) {
  std::vector<UOp> inside(loops.size() + 1, g.index(1));  // elements of the loops from here on
  for (size_t i = loops.size(); i-- > 0;) inside[i] = simplify(g, g.alu(Op::Mul, {inside[i + 1], loops[i].src(0)}));
  const UOp pieces = simplify(g, g.alu(Op::Floordiv, {inside[0], g.index(width)}));
  Dealt dealt;
  dealt.ranges.push_back(g.range(pieces, id, AxisType::Spread));
  dealt.place = dealt.ranges[0];
  if (width > 1) {
    dealt.ranges.push_back(g.range(g.index(width), id + 1, AxisType::Vector));
    dealt.place = g.alu(Op::Add, {g.alu(Op::Mul, {dealt.place, g.index(width)}), dealt.ranges[1]});
  }
  for (size_t i = 0; i < loops.size(); ++i)
    dealt.at.push_back(g.alu(Op::Floormod, {g.alu(Op::Floordiv, {dealt.place, inside[i + 1]}), loops[i].src(0)}));
  return dealt;
}

}  // namespace svod
