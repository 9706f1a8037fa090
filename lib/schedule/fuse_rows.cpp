#include "schedule/fuse_rows.h"

#include <algorithm>

#include "ir/evaluate.h"
#include "ir/likely.h"
#include "tensor/dot_operands.h"
#include "tensor/parameters.h"

namespace svod {

namespace {

using namespace parameters;

bool multipliesNarrow(UOp product) {
  return std::ranges::all_of(product.src(0).src(), [](UOp factor) { return widensNarrow(belowMovement(factor)); });
}

int64_t most(UOp dim) { return std::max<int64_t>(1, dim.bounds().max); }

}  // namespace

std::optional<RowPlan> planRows(UOp n, std::span<const Use> uses, UOp root, const TokenTable& tokens,
                                int64_t mostBytes) {
  RowPlan plan;
  std::vector<bool> used(root.rank());
  int64_t row = 1, rows = 1;
  for (size_t axis = 0; axis < n.rank(); ++axis) {
    const int64_t extent = most(n.shape()[axis]);
    const auto sweeps = [&](const Use& use) {
      const IndexToken& token = tokens[use.index[axis]];
      const auto swept = static_cast<double>(std::max<int64_t>(1, likelySize(n.shape()[axis])));
      return token.isCounter && tokens.reduceExtent(tokens.reducesOf({&use.index[axis], 1})) == swept;
    };
    if (std::ranges::all_of(uses, sweeps)) {
      plan.axes.push_back(static_cast<int>(axis)), row *= extent;
      continue;
    }
    const TokenId first = uses[0].index[axis];
    if (tokens[first].reduced || !std::ranges::all_of(uses, [&](const Use& use) { return use.index[axis] == first; }))
      return std::nullopt;
    for (int outer : tokens[first].axes) used[static_cast<size_t>(outer)] = true;
    rows *= extent;
  }
  int64_t open = 1;  // elements of the leading axes: each has a row
  bool ended = false;
  for (size_t axis = 0; axis < root.rank(); ++axis) {
    const int64_t extent = most(root.shape()[axis]);
    if (extent == 1) continue;
    if (used[axis] && ended) return std::nullopt;
    ended |= !used[axis];
    if (used[axis]) open *= extent;
    if (used[axis] && likelySize(root.shape()[axis]) >= kMinRows) plan.over.push_back(static_cast<int>(axis));
  }
  const bool fits = row >= 2 && row <= mostBytes / byteSize(n.dtype()) && ended && open == rows;
  return fits && !plan.over.empty() ? std::optional(plan) : std::nullopt;
}

bool isRowProduct(UOp n, const RowPlan& plan) {
  if (n.op() != Op::Reduce || n.argAs<ReduceArg>().op != Op::Add || !isFloat(n.dtype())) return false;
  const int64_t terms = likelyNumel(n.src(0)) / likelyNumel(n);
  int64_t row = 1;
  for (int axis : plan.axes) row *= std::max<int64_t>(1, likelySize(n.shape()[static_cast<size_t>(axis)]));
  return terms >= kMinTerms && terms <= kMaxTerms && row >= kRowPerTerm * terms;
}

RowTimes timesOfRows(UOp n, UOp root, const GraphMachine& machine) {
  const auto elements = static_cast<double>(likelyNumel(n)), terms = static_cast<double>(likelyNumel(n.src(0)));
  const auto columns = static_cast<double>(std::max<int64_t>(1, likelySize(root.shape().back())));
  const double products = terms + elements * columns;
  const bool isNarrow = machine.narrowProducts && multipliesNarrow(n);
  const double tiles = (isNarrow ? machine.gpu.cores : machine.gpu.lanes) * kTiledShare;
  return {products / (machine.gpu.lanes * kHeldShare),
          products / tiles + elements * kRowBytes / machine.gpu.bytes + 2 * kGpuKernel};
}

UOp beforeSweeps(UOp n, const Readers& readers) {
  for (UOp next = readers.only(n); next; next = readers.only(n)) {
    if (!isElementwise(next.op()) || next.dtype() != n.dtype() || !sameShape(next.shape(), n.shape())) return n;
    n = next;
  }
  return n;
}

}  // namespace svod
