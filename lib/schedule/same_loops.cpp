#include "schedule/same_loops.h"

#include <algorithm>

#include "symbolic/symbolic.h"
#include "tensor/parameters.h"

namespace svod {

namespace {

std::span<const UOp> loopsOf(UOp nest) { return nest.src().subspan(1); }

/// The stores of all iterations of `loop`, one behind the other.
std::vector<UOp> unrolled(Graph& graph, std::span<const UOp> stores, UOp loop) {
  std::vector<UOp> all;
  for (int64_t i = 0; i < loop.src(0).constInt(); ++i) {
    const UOp at = graph.index(i);
    for (UOp store : stores) all.push_back(simplify(graph, substitute(graph, store, {&loop, 1}, {&at, 1})));
  }
  return all;
}

}  // namespace

std::vector<UOp> storesOf(UOp end) {
  const UOp body = end.src(0);
  if (body.op() != Op::Group) return {body};
  return {body.src().begin(), body.src().end()};
}

UOp withStores(Graph& graph, UOp end, std::span<const UOp> stores) {
  std::vector<UOp> src(end.src().begin(), end.src().end());
  src[0] = stores.size() == 1 ? stores[0] : graph.make(Op::Group, DType::Void, stores);
  return graph.make(Op::End, DType::Void, src);
}

bool fitsLoopsOf(UOp other, UOp nest) {
  const std::span<const UOp> outer = loopsOf(other), loops = loopsOf(nest);
  if (loops.size() < outer.size()) return false;
  if (!std::ranges::equal(outer, loops.first(outer.size()), {}, &UOp::hash, &UOp::hash)) return false;
  int64_t iterations = 1;
  for (UOp loop : loops.subspan(outer.size())) {
    if (!loop.src(0).isConst() || loop.src(0).constInt() > parameters::kUnrolledResults) return false;
    iterations *= loop.src(0).constInt();
  }
  return iterations >= 1 && iterations <= parameters::kUnrolledResults;
}

UOp overLoopsOf(Graph& graph, UOp other, UOp nest) {
  const std::span<const UOp> inner = loopsOf(nest).subspan(loopsOf(other).size());
  if (inner.empty()) return nest;
  std::vector<UOp> stores = storesOf(nest);
  for (UOp loop : inner) stores = unrolled(graph, stores, loop);
  return withStores(graph, other, stores);
}

}  // namespace svod
