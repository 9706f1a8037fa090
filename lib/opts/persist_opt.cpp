#include "opts/persist_opt.h"

#include <algorithm>

#include "facts/axes.h"
#include "opts/legality.h"
#include "opts/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

Result<UOp> axisToPersist(UOp sink) {
  std::vector<UOp> grid;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range && axisType(n) == AxisType::Global) grid.push_back(n);
  if (grid.size() == 1) return grid[0];
  return fail(Diag::BadOpt, "the grid has " + std::to_string(grid.size()) + " axes, and persist takes the only one",
              "merge the axes before global, or put raster before persist");
}

Result<Applied> applyPersist(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kOutput, {AxisType::Global}));
  SVOD_CHECK(axisToPersist(sink));
  const int64_t stay = args.amount == 0 ? caps.gpu.units : args.amount;
  if (stay < 1) return fail(Diag::BadOpt, "no workgroup would stay", "use 0: one for each unit of the GPU");
  if (maxExtent(axis.range) <= stay)
    return fail(Diag::BadOpt,
                std::to_string(stay) + " workgroups have nothing to do one after the other in a grid of " +
                    std::to_string(maxExtent(axis.range)),
                "use fewer workgroups than there are tiles");
  // tile = first + round * stay, of the tiles that are left for this workgroup.
  UOp size = axis.range.src(0), count = g.index(stay);
  UOp first = g.range(count, axis.range.argAs<AxisArg>().id, AxisType::Global);
  UOp left = g.alu(Op::Add, {g.alu(Op::Sub, {size, first}), g.index(stay - 1)});
  UOp round = g.range(simplify(g, g.alu(Op::Floordiv, {left, count})), nextRangeId(sink), AxisType::Loop);
  UOp tile = g.alu(Op::Add, {g.alu(Op::Mul, {round, count}), first});
  UOp last = g.alu(Op::Sub, {size, g.index(1)});
  Reloop loop{axis.range, g.alu(Op::Min, {tile, last}), {first, round}};
  return Applied(simplify(g, reloop(g, sink, loop)), {{MadeLoop::How::Part, round, {axis.range}, "t"}});
}

}  // namespace svod
