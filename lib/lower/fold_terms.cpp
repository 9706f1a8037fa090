#include "lower/fold_terms.h"

#include <algorithm>

#include "lower/accumulator.h"

namespace svod {

namespace {

UOp foldOne(Graph& g, const FoldType& type, UOp from, const FoldTerm& v) {
  if (v.b && type.width > 1 && from.isScalar()) from = repeated(g, from, type.width);
  if (v.core != nullptr) return g.make(Op::Wmma, type.dtype, {v.a, v.b, from}, NameArg{v.core->name});
  if (v.tile != nullptr) return g.make(Op::TileDot, type.dtype, {v.a, v.b, from}, NameArg{v.tile->name});
  if (v.b) return g.make(Op::Dot, type.dtype, {v.a, v.b, from}, SlotArg{static_cast<uint32_t>(v.group)});
  return g.alu(type.op, {from, v.a});
}

}  // namespace

int64_t FoldTerm::lanes() const {
  if (tile != nullptr) return int64_t{tile->m} * tile->n;
  return core != nullptr ? core->c.elements() : std::max<int64_t>({1, a.lanes() / group, b ? b.lanes() / group : 1});
}

UOp foldTerms(Graph& graph, uint32_t slot, FoldType type, std::span<const UOp> loops, std::span<const FoldTerm> terms) {
  std::vector<UOp> added;
  for (const FoldTerm& v : terms) {
    type.width = std::max(type.width, v.lanes());
    added.push_back(v.a);
    if (v.b) added.push_back(v.b);
  }
  UOp start = graph.constant(identity(type.op, type.dtype));
  auto fold = [&](UOp from) {
    for (const FoldTerm& v : terms) from = foldOne(graph, type, from, v);
    return from;
  };
  UOp total =
      loops.empty() ? fold(start) : accumulate(graph, slot, {type.dtype, type.width}, start, loops, added, fold);
  // Operands that do not depend on the lane: every lane holds the same partial result.
  return type.width > 1 && total.lanes() == 1 ? repeated(graph, total, type.width) : total;
}

UOp repeated(Graph& graph, UOp scalar, int64_t count) {
  return graph.make(Op::Stack, scalar.dtype(), std::vector<UOp>(static_cast<size_t>(count), scalar));
}

}  // namespace svod
