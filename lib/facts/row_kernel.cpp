#include "facts/row_kernel.h"

#include <algorithm>

#include "facts/local_buffers.h"

namespace svod {

namespace {

bool isProduct(UOp n) { return sumsProducts(n) && n.srcCount() == 2; }  // along one loop

// Whether an operand of the product is the same in all iterations of `loop`.
bool readsAgain(UOp product, UOp loop) {
  return std::ranges::any_of(toposort(product), [&](UOp n) {
    return n.op() == Op::Load && n.dependsOn(product.src(1)) && !n.dependsOn(loop);
  });
}

}  // namespace

std::optional<RowKernel> rowKernelOf(const KernelFacts& kernel) {
  RowKernel k;
  std::vector<UOp> outer;
  for (const Axis& axis : kernel.axes) {
    if (axis.nest != Nest::Output || axisType(axis.range) != AxisType::Loop) continue;
    const bool isOutside = std::ranges::all_of(kernel.fills, [&](UOp s) { return s.dependsOn(axis.range); });
    if (isOutside && !k.column)
      outer.push_back(axis.range);
    else
      k.column = axis.range;
  }
  if (kernel.fills.empty() || !k.column || isInFill(kernel, k.column)) return std::nullopt;
  for (UOp n : kernel.reduces)
    if (isProduct(n)) (n.dependsOn(k.column) ? k.result : k.score) = n;
  if (!k.result || !k.score) return std::nullopt;
  for (; !outer.empty(); outer.pop_back()) {
    if (readsAgain(k.score, outer.back())) {
      k.row = outer.back();
      return k;
    }
    k.between.insert(k.between.begin(), outer.back());
  }
  return std::nullopt;
}

UOp scoreOf(UOp fill) {
  for (UOp n : toposort(fill.src(0)))
    if (isProduct(n) && n.dependsOn(fill.src(1)) && n.dependsOn(fill.src().back())) return n;
  return {};
}

UOp resultOver(const KernelFacts& kernel, UOp column) {
  const auto at = std::ranges::find_if(kernel.reduces, [&](UOp n) { return isProduct(n) && n.dependsOn(column); });
  return at == kernel.reduces.end() ? UOp() : *at;
}

std::optional<Access> matrixOf(const KernelFacts& kernel, UOp result, UOp column) {
  for (const Access& a : kernel.accesses)
    if (!a.isStore && a.slot && a.node.dependsOn(column) && a.node.dependsOn(result.src(1))) return a;
  return std::nullopt;
}

}  // namespace svod
