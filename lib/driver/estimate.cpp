#include "driver/estimate.h"

#include <map>

#include "ir/shape.h"
#include "target/to_expr.h"

namespace svod {

namespace {

/// Sums and products of loop extents, in the normal form of sizes: equal parts are counted, not repeated.
class Counter {
 public:
  explicit Counter(std::span<const std::string> names) : names_(names) {}

  /// How often a node is computed.
  UOp iterations(UOp node) {
    UOp count = g_.index(1);
    for (UOp r : node.ranges()) count = mulDims(g_, count, extent(r.src(0)));
    return count;
  }
  // Code may not need a variable that the loops had, and an extent may be no size: then its greatest value counts.
  UOp extent(UOp dim) {
    auto [at, isNew] = extents_.try_emplace(dim.id());
    if (isNew) at->second = toExpr(dim, names_) ? g_.clone(dim) : g_.index(dim.bounds().max);
    return at->second;
  }
  UOp add(UOp a, UOp b) { return a ? addDims(g_, a, b) : b; }
  UOp scale(UOp a, int64_t by) { return mulDims(g_, a, g_.index(by)); }
  UOp smaller(UOp a, UOp b) { return minDims(g_, a, b); }

  /// Long ones stand for the greatest sizes: they tell kernels apart, and no reader has to take them.
  Expr expr(UOp count) const {
    if (!count) return 0;
    Result<Expr> exact = toExpr(count, names_);
    return exact && exact->nodes().size() <= kMostWords ? *exact : Expr(count.bounds().max);
  }

 private:
  static constexpr size_t kMostWords = 64;

  Graph g_;
  std::span<const std::string> names_;
  std::map<uint32_t, UOp> extents_;
};

bool isCounted(UOp n) {
  if (n.op() != Op::Reduce && !isElementwise(n.op())) return false;
  if (isFloat(n.dtype())) return n.op() != Op::Where && n.op() != Op::Cast && n.op() != Op::Bitcast;
  const bool sumsUp =
      n.op() == Op::Reduce && (n.argAs<ReduceArg>().op == Op::Add || n.argAs<ReduceArg>().op == Op::Mul);
  return (sumsUp || n.op() == Op::Mul || n.op() == Op::Mulacc) && isInt(n.dtype()) && n.dtype() != DType::Index;
}

}  // namespace

Estimate estimate(UOp sink, std::span<const std::string> names) {
  Counter counter(names);
  UOp flops, bytes;
  std::map<uint32_t, UOp> accessOf;  // by param id: times accessed
  for (UOp n : toposort(sink)) {
    if (n.op() == Op::Load || n.op() == Op::Store) {
      UOp base = storageOf(n.src(0));
      if (base.op() != Op::Param) continue;
      UOp& times = accessOf[base.id()];
      times = counter.add(times, counter.iterations(n));
    } else if (isCounted(n)) {
      UOp times = counter.iterations(n.op() == Op::Reduce ? n.src(0) : n);
      flops = counter.add(flops, n.op() == Op::Mulacc ? counter.scale(times, 2) : times);
    }
  }
  for (UOp n : toposort(sink)) {
    auto it = accessOf.find(n.id());
    if (it == accessOf.end()) continue;
    UOp elements = counter.smaller(it->second, counter.extent(n.src(0)));
    bytes = counter.add(bytes, counter.scale(elements, static_cast<int64_t>(byteSize(n.dtype()))));
  }
  return {counter.expr(flops), counter.expr(bytes)};
}

}  // namespace svod
