#include "facts/products.h"

#include <algorithm>

namespace svod {

std::optional<MatrixProduct> productOf(const KernelFacts& kernel, const Caps& caps, std::span<const uint32_t> laidOut,
                                       UOp reduce, UOp lanes) {
  if (reduce.srcCount() != 2 || axisType(reduce.src(1)) != AxisType::Reduce || reduce.src(0).op() != Op::Mul) return {};
  std::optional<int64_t> depth = constExtent(reduce.src(1));
  if (!depth || !constExtent(lanes) || !mayReassociate(caps, reduce.dtype())) return {};
  MatrixProduct p{reduce.src(1), *depth, {}, {}};
  std::vector<Access> wide;
  for (const Access& a : kernel.accesses) {
    if (!a.slot) return {};
    if (!a.isStore && a.node.dependsOn(lanes) && a.node.dependsOn(p.k)) wide.push_back(a);
  }
  if (wide.size() != 1) return {};
  if (strideOf(wide[0], lanes) != 1 && std::ranges::find(laidOut, *wide[0].slot) == laidOut.end()) return {};
  p.matrix = wide[0];
  for (const Axis& axis : kernel.axes) {
    if (axis.nest != Nest::Output || axis.range == lanes || p.matrix.node.dependsOn(axis.range)) continue;
    if (!constExtent(axis.range) || axisType(axis.range) != AxisType::Loop) return {};
    if (!reduce.dependsOn(axis.range)) continue;
    p.rowAxes.push_back(axis.range), p.rows *= maxExtent(axis.range);
  }
  return p;
}

}  // namespace svod
