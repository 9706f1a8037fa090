#include "facts/reduces.h"

#include <algorithm>

#include "ir/tile_unit.h"

namespace svod {

UOp reduceOver(const KernelFacts& kernel, UOp range) {
  for (UOp n : kernel.reduces)
    if (!n.src(0).ranges().empty() && n.dependsOn(range)) return n;
  return {};
}

UOp deepestReduceOf(const KernelFacts& kernel, UOp range) {
  UOp deepest;
  for (UOp n : kernel.reduces)
    if (n.src(0).dependsOn(range))
      if (!deepest || n.src(0).ranges().size() > deepest.src(0).ranges().size()) deepest = n;
  return deepest;
}

std::vector<UOp> loopedReduces(const KernelFacts& kernel) {
  std::vector<UOp> found = kernel.reduces;
  std::erase_if(found, [](UOp n) { return n.srcCount() < 2; });
  return found;
}

int64_t termsOf(UOp reduce) {
  int64_t terms = 1;
  for (UOp r : reduce.src().subspan(1)) terms *= maxExtent(r);
  return terms;
}

bool sumsGroups(UOp reduce) {
  return std::ranges::any_of(reduce.src().subspan(1), [](UOp r) { return axisType(r) == AxisType::Dot; });
}

bool hasGroups(const KernelFacts& kernel) { return std::ranges::any_of(kernel.reduces, sumsGroups); }

bool hasTiles(const KernelFacts& kernel) {
  return std::ranges::any_of(kernel.reduces, [](UOp reduce) { return tileFormOf(reduce).has_value(); });
}

}  // namespace svod
