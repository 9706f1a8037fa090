// a * b + c, c - a * b and a * b - c become Mulacc when nothing else needs the product.
#include <algorithm>
#include <optional>
#include <vector>

#include "lower/legalize.h"

namespace svod::detail {

namespace {

std::vector<int> countUses(UOp root) {
  std::vector<int> uses;
  for (UOp n : toposort(root)) {
    if (n.id() >= uses.size()) uses.resize(n.id() + 1);
    for (UOp s : n.src()) ++uses[s.id()];
  }
  return uses;
}

}  // namespace

UOp legalizeMulacc(Graph& graph, UOp root, const LegalizeOptions& options) {
  if (options.numerics == Numerics::Strict || !options.fma) return root;
  std::vector<int> uses = countUses(root);
  uses.resize(graph.size());
  auto isProduct = [&](UOp n) { return n.op() == Op::Mul && uses[n.id()] == 1; };
  auto negated = [&](UOp x) { return graph.alu(Op::Neg, {x}); };
  return transform(graph, root, [&](UOp node, std::span<const UOp> src) {
    bool adds = node.op() == Op::Add || node.op() == Op::Sub;
    if (!adds || !isFloat(node.dtype())) return std::ranges::equal(src, node.src()) ? node : graph.withSrc(node, src);
    bool subtracts = node.op() == Op::Sub;
    for (int i : {0, 1}) {
      if (!isProduct(node.src(i)) || src[i].op() != Op::Mul) continue;
      UOp a = src[i].src(0), b = src[i].src(1), c = src[1 - i];
      if (subtracts && i == 0) c = negated(c);
      if (subtracts && i == 1) a = negated(a);
      return graph.alu(Op::Mulacc, {a, b, c});
    }
    return graph.withSrc(node, src);
  });
}

}  // namespace svod::detail
