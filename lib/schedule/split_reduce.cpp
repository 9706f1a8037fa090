#include "schedule/split_reduce.h"

#include <algorithm>
#include <set>

namespace svod {

namespace {

// Worth a second kernel only when the first sweeps this many elements per result and the result has few elements.
constexpr int64_t kMinRatio = 32768, kMaxResult = 64;
constexpr int64_t kMaxParts = 256, kMinParts = 8;

// Products of matrices that are read again this often, but have few results for so many terms: a part of the terms stays in
// cache for all results, and there are tiles for many threads.
constexpr int64_t kMinReuse = 16, kMaxProducts = 1 << 16;
constexpr int64_t kMinTermsOfPart = 1024, kMaxPartsOfProduct = 64, kMinPartsOfProduct = 8;

int64_t divisorWithin(int64_t extent, int64_t least, int64_t most) {
  for (int64_t parts = std::min(most, extent); parts >= least; --parts)
    if (extent % parts == 0) return parts;
  return 0;
}

bool mayReassociate(UOp reduce, Numerics numerics) {
  Op op = reduce.argAs<ReduceArg>().op;
  return numerics != Numerics::Strict || !isFloat(reduce.dtype()) || op == Op::Max || op == Op::Min;
}

bool subtractsReduction(UOp n) {
  if (n.op() != Op::Sub) return false;
  for (n = n.src(1); isMovement(n.op());) n = n.src(0);
  return n.op() == Op::Reduce;
}

// Whether a factor of `terms` is a softmax, whose rows a kernel keeps beside the product.
bool keepsRows(UOp terms) {
  std::vector<UOp> open{terms};
  std::set<uint32_t> seen;
  while (!open.empty()) {
    UOp n = open.back();
    open.pop_back();
    if (n.op() == Op::Exp && subtractsReduction(n.src(0))) return true;
    if (!seen.insert(n.id()).second || !(isElementwise(n.op()) || isMovement(n.op()))) continue;
    open.insert(open.end(), n.src().begin(), n.src().end());
  }
  return false;
}

// Elements of a factor before it was repeated for the other one.
int64_t elementsOf(UOp factor) {
  while (factor.op() == Op::Expand || factor.op() == Op::Reshape || factor.op() == Op::Permute) factor = factor.src(0);
  return factor.maxNumel();
}

bool isDeepProduct(UOp reduce) {
  const auto& arg = reduce.argAs<ReduceArg>();
  UOp terms = reduce.src(0);
  if (isFloat(reduce.dtype()) && byteSize(reduce.dtype()) < 4) return false;  // a buffer would round the parts
  if (arg.op != Op::Add || arg.axes.size() != 1 || terms.op() != Op::Mul || reduce.maxNumel() > kMaxProducts) return false;
  const int64_t largest = std::max(elementsOf(terms.src(0)), elementsOf(terms.src(1)));
  return terms.maxNumel() >= kMinReuse * largest && !keepsRows(terms);
}

// Into how many parts a reduce over `extent` terms goes; 0 for one.
int64_t partsOf(UOp reduce, int64_t extent) {
  const int64_t in = reduce.src(0).maxNumel(), out = std::max<int64_t>(reduce.maxNumel(), 1);
  if (out <= kMaxResult && in / out >= kMinRatio) return divisorWithin(extent, kMinParts, kMaxParts);
  if (!isDeepProduct(reduce)) return 0;
  return divisorWithin(extent, kMinPartsOfProduct, std::min(kMaxPartsOfProduct, extent / kMinTermsOfPart));
}

UOp split(Graph& g, UOp reduce) {
  UOp x = reduce.src(0);
  const auto& arg = reduce.argAs<ReduceArg>();
  for (int32_t axis : arg.axes) {
    int64_t parts = partsOf(reduce, x.dim(axis));
    if (parts == 0) continue;
    std::vector<UOp> dims(x.shape().begin(), x.shape().end());
    dims[axis] = g.index(parts);
    dims.insert(dims.begin() + axis + 1, g.index(x.dim(axis) / parts));
    // The part axis moves to the front; it stays after the first reduction.
    std::vector<int32_t> order{axis}, axes;
    for (int32_t i = 0; i < static_cast<int32_t>(dims.size()); ++i)
      if (i != axis) order.push_back(i);
    for (int32_t a : arg.axes) axes.push_back(a + 1);
    UOp first = g.reduce(arg.op, g.permute(g.reshape(x, dims), order), axes);
    int32_t front = 0;
    return g.reduce(arg.op, g.make(Op::Contiguous, first.dtype(), {first}), {&front, 1});
  }
  return reduce;
}

}  // namespace

UOp splitReduces(Graph& g, UOp sink, Numerics numerics) {
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    if (same.op() != Op::Reduce || same.src(0).hasSymbolicShape() || !mayReassociate(same, numerics)) return same;
    return split(g, same);
  });
}

}  // namespace svod
