#include "symbolic/guard_loads.h"

#include <algorithm>
#include <map>

#include "ir/shape.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

class LoadGuard {
 public:
  explicit LoadGuard(Graph& graph) : g_(graph) {}

  UOp load(UOp node, std::span<const UOp> src) {
    UOp storage = storageOf(node.src(0)), isThere;
    if (storage.op() == Op::Param && storage.src(0).bounds().min < 1) isThere = condition(node, storage.src(0));
    if (!isThere) return std::ranges::equal(src, node.src()) ? node : g_.withSrc(node, src);
    if (src.size() == 3) return g_.load(src[0], src[1], g_.alu(Op::And, {src[2], isThere}));
    return g_.load(src[0], g_.constant(Scalar::of(node.dtype(), 0)), isThere);
  }

 private:
  /// What must hold for an element to be there and is not known yet; null when everything is. A product of factors that
  /// are not negative is 0 when one of them is. Of the others only the product says something: -1 * q of (m - n) // 2.
  UOp condition(UOp node, UOp size) {
    std::vector<UOp> factors, missing;
    flattenFactors(size, factors);
    const auto isSigned = [](UOp f) { return f.bounds().min < 0; };
    if (std::ranges::all_of(factors, isSigned)) {
      factors.assign({size});
    } else if (std::ranges::any_of(factors, isSigned)) {
      UOp product = g_.index(1);
      for (UOp f : factors)
        if (isSigned(f)) product = mulDims(g_, product, f);
      std::erase_if(factors, isSigned);
      factors.push_back(product);
    }
    for (UOp f : factors)
      if (f.bounds().min < 1 && !isImplied(node, f)) missing.push_back(g_.alu(Op::Lt, {g_.index(0), f}));
    return missing.empty() ? UOp() : joinClauses(g_, missing);
  }

  bool isImplied(UOp node, UOp factor) {
    auto stops = [&](UOp range) { return isEmptyWithout(range.src(0), factor); };
    if (std::ranges::any_of(node.ranges(), stops)) return true;
    if (node.srcCount() < 3 || !node.src(2).isScalar()) return false;
    return simplifyUnder(g_, g_.alu(Op::Lt, {g_.index(0), factor}), node.src(2)).isConst(1);
  }

  /// Whether a loop of `extent` cannot run when `factor` is 0.
  bool isEmptyWithout(UOp extent, UOp factor) {
    if (extent.bounds().min >= 1) return false;
    auto [it, isNew] = known_.try_emplace({extent.id(), factor.id()}, extent == factor);
    if (isNew && !it->second) {
      UOp isZero = g_.alu(Op::Lt, {factor, g_.index(1)});
      it->second = simplifyUnder(g_, extent, isZero).bounds().max <= 0;
    }
    return it->second;
  }

  Graph& g_;
  std::map<std::pair<uint32_t, uint32_t>, bool> known_;  // by extent and factor
};

bool mayBeEmpty(UOp n) { return n.op() == Op::Param && n.src(0).bounds().min < 1; }

}  // namespace

UOp guardLoads(Graph& graph, UOp sink) {
  if (std::ranges::none_of(toposort(sink), mayBeEmpty)) return sink;
  LoadGuard guard(graph);
  return transform(graph, sink, [&](UOp node, std::span<const UOp> src) {
    if (node.op() == Op::Load) return guard.load(node, src);
    return std::ranges::equal(src, node.src()) ? node : graph.withSrc(node, src);
  });
}

}  // namespace svod
