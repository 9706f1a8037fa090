#include "tensor/split_reduce.h"

#include <algorithm>

#include "support/integers.h"
#include "tensor/nodes.h"
#include "tensor/parts.h"
#include "tensor/softmax.h"
#include "tensor/work.h"

namespace svod {

namespace {

using namespace parameters;

// Parts keep the order of the terms, so that a maximum of floats, which knows no rounding, may be one of parts even
// where its terms must not change places (mayReassociate, facts/caps.h).
bool mayRegroup(UOp reduce, Numerics numerics) {
  Op op = reduce.argAs<ReduceArg>().op;
  return numerics != Numerics::Strict || !isFloat(reduce.dtype()) || op == Op::Max || op == Op::Min;
}

// A product of matrices that are read again often, but with few results for so many terms: a part of the terms stays in
// cache for all results, and there are tiles for many threads.
bool isDeepProduct(UOp reduce) {
  const auto& arg = reduce.argAs<ReduceArg>();
  UOp terms = reduce.src(0);
  if (isFloat(reduce.dtype()) && byteSize(reduce.dtype()) < 4) return false;  // a buffer would round the parts
  if (arg.op != Op::Add || arg.axes.size() != 1 || terms.op() != Op::Mul || reduce.maxNumel() > kMaxProducts)
    return false;
  const int64_t largest =  // of the factors before they were repeated for each other
      std::max(belowArrangement(terms.src(0)).maxNumel(), belowArrangement(terms.src(1)).maxNumel());
  return terms.maxNumel() >= kMinReuse * largest && !hasSoftmaxFactor(terms);
}

// Worth a second kernel.
bool hasFewResults(UOp reduce) {
  const int64_t out = std::max<int64_t>(reduce.maxNumel(), 1);
  return out <= kMaxResult && reduce.src(0).maxNumel() / out >= kMinRatio;
}

// Of the thread that has most to do, where threads have nothing but parts to share. What parts of a product gain is
// that they stay in cache, which nothing knows before there are loops.
std::optional<double> costOf(UOp reduce, int64_t parts) {
  if (!hasFewResults(reduce)) return std::nullopt;
  constexpr double kTermCost = kLoadCost + kOpCost;
  const auto in = static_cast<double>(reduce.src(0).maxNumel()), out = static_cast<double>(reduce.maxNumel());
  const auto count = static_cast<double>(parts);
  return in / count * kTermCost + (parts > 1 ? count * out * kTermCost + kLaunch : 0);
}

// Into how many parts a reduce over `extent` terms goes; 0 for one.
int64_t partsOf(UOp reduce, int64_t extent) {
  if (hasFewResults(reduce)) return divisorWithin(extent, kMinParts, kMaxParts);
  if (!isDeepProduct(reduce)) return 0;
  return divisorWithin(extent, kMinPartsOfProduct, std::min(kMaxPartsOfProduct, extent / kMinTermsOfPart));
}

// The parts become the first axis, of the terms and of what is stored.
UOp split(Graph& g, UOp reduce, int32_t axis, int64_t parts) {
  const auto& arg = reduce.argAs<ReduceArg>();
  const UOp terms = inParts(g, reduce.src(0), axis, parts);
  std::vector<int32_t> order{axis}, axes;
  for (int32_t i = 0; i < static_cast<int32_t>(terms.rank()); ++i)
    if (i != axis) order.push_back(i);
  for (int32_t a : arg.axes) axes.push_back(a + 1);
  return reducedInParts(g, monoidOf(g, arg.op), g.permute(terms, order), axes, 0)[0];
}

// Decides about `reduce`, which `named` was before what is below it changed.
UOp splitAsDecided(Graph& g, UOp reduce, UOp named, NodeDecisions& decide) {
  const auto extent = [&](int32_t axis) { return reduce.src(0).dim(static_cast<size_t>(axis)); };
  std::span<const int32_t> axes = reduce.argAs<ReduceArg>().axes;
  if (axes.empty()) return reduce;
  for (int32_t axis : axes)
    if (const int64_t usual = partsOf(reduce, extent(axis)); usual > 1) {
      const int64_t parts = decideParts(decide, "parts", named, extent(axis), usual, "few results, many terms",
                                        [&](int64_t count) { return costOf(reduce, count); });
      return parts > 1 ? split(g, reduce, axis, parts) : reduce;
    }
  // A buffer would round sums of small floats.
  if (isFloat(reduce.dtype()) && byteSize(reduce.dtype()) < 4) return reduce;
  const int32_t longest = std::ranges::max(axes, {}, extent);
  const int64_t parts = decideParts(decide, "parts", named, extent(longest), 1, "");
  return parts > 1 ? split(g, reduce, longest, parts) : reduce;
}

}  // namespace

UOp splitReduces(Model& model, UOp sink, Numerics numerics, Decisions& decisions) {
  Graph& g = *model.graph;
  NodeDecisions decide(model, toposort(sink), decisions);
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    if (same.op() != Op::Reduce || same.src(0).hasSymbolicShape() || !mayRegroup(same, numerics)) return same;
    return splitAsDecided(g, same, node, decide);
  });
}

}  // namespace svod
