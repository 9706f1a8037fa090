#include "tensor/late_normalize.h"

#include <algorithm>
#include <optional>

#include "ir/likely.h"
#include "tensor/node_names.h"
#include "tensor/nodes.h"
#include "tensor/softmax.h"
#include "tensor/uses.h"
#include "tensor/work.h"

namespace svod {

namespace {

// A factor of the terms of a sum of products, below the movement ops that bring it there, outermost first.
struct Factor {
  UOp value;
  std::vector<UOp> moves;

  // `x`, of the shape of `value`, moved in the same way.
  UOp move(Graph& g, UOp x) const {
    for (auto it = moves.rbegin(); it != moves.rend(); ++it) {
      std::vector<UOp> src(it->src().begin(), it->src().end());
      src[0] = x;
      x = g.withSrc(*it, src);
    }
    return x;
  }
};

Factor factorBelow(UOp operand) {
  Factor f{operand, {}};
  for (; isMovement(f.value.op()) && f.value.op() != Op::Pad; f.value = f.value.src(0)) f.moves.push_back(f.value);
  return f;
}

bool isShared(const Factor& f, const Readers& readers) {
  return readers.count(f.value) > 1 || std::ranges::any_of(f.moves, [&](UOp n) { return readers.count(n) > 1; });
}

bool isReduced(UOp reduce, size_t axis) {
  std::span<const int32_t> axes = reduce.argAs<ReduceArg>().axes;
  return std::ranges::find(axes, static_cast<int32_t>(axis)) != axes.end();
}

// Whether all terms of a sum read the same element of `scale`, which `f` moves to its place in the product.
bool isSameForAllTerms(UOp reduce, const Factor& f, UOp scale) {
  TokenTable tokens;
  Use use{0, {}};
  for (size_t i = 0; i < reduce.src(0).rank(); ++i) {
    const int axis = static_cast<int>(i);
    use.index.push_back(isReduced(reduce, i) ? tokens.reduceAxis(0, axis, 1) : tokens.rootAxis(0, axis));
  }
  const auto follow = [&](UOp n) { passToOperands(n, use, tokens, [&](UOp, Use read) { use = std::move(read); }); };
  for (UOp n : f.moves) follow(n);
  for (; isMovement(scale.op()); scale = scale.src(0)) {
    if (scale.op() == Op::Pad) return false;
    follow(scale);
  }
  return std::ranges::none_of(use.index, [&](TokenId id) { return tokens[id].reduced; });
}

// The first term's element of `x`, for each result of `reduce`.
UOp firstTerm(Graph& g, UOp reduce, UOp x) {
  std::vector<UOp> offsets(x.rank(), g.index(0)), sizes(x.shape().begin(), x.shape().end());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (isReduced(reduce, i)) sizes[i] = g.index(1);
  return g.reshape(g.shrink(x, offsets, sizes), reduce.shape());
}

// Which factor of the sum's terms is a softmax that nothing else reads; -1 for none.
int normalizedFactor(UOp sum, const Readers& readers) {
  if (!isProductSum(sum)) return -1;
  for (UOp s : sum.src(0).shape())
    if (s.bounds().min < 1) return -1;
  for (int i : {0, 1}) {
    Factor f = factorBelow(sum.src(0).src(i));
    std::optional<Normalized> n = normalizedOf(f.value);
    if (n && !isShared(f, readers) && isSameForAllTerms(sum, f, n->scale)) return i;
  }
  return -1;
}

// One op for each result, or one for each term.
std::vector<Alternative> placesToDivide(UOp sum, int factor) {
  const Op op = normalizedOf(factorBelow(sum.src(0).src(factor)).value)->op;
  const double each = op == Op::Fdiv ? kDivideCost : kOpCost;
  return {{"after", each * static_cast<double>(likelyNumel(sum))},
          {"before", each * static_cast<double>(likelyNumel(sum.src(0)))}};
}

// `sum` itself where what was rebuilt below it is no softmax any more.
UOp normalizedAfter(Graph& g, UOp sum, int factor) {
  if (!isProductSum(sum)) return sum;
  Factor f = factorBelow(sum.src(0).src(factor));
  const std::optional<Normalized> n = normalizedOf(f.value);
  if (!n) return sum;
  UOp product = g.alu(Op::Mul, {f.move(g, n->values), sum.src(0).src(1 - factor)});
  UOp later = g.reduce(Op::Add, product, sum.argAs<ReduceArg>().axes);
  return g.alu(n->op, {later, firstTerm(g, sum, f.move(g, n->scale))});
}

}  // namespace

UOp normalizeLate(Model& model, UOp sink, Numerics numerics, const GraphMachine& machine, Decisions& decisions) {
  if (numerics == Numerics::Strict) return sink;
  Graph& g = *model.graph;
  const std::vector<UOp> order = toposort(sink);
  const Readers readers(order);
  NodeDecisions decide(model, order, decisions);
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    const int factor = normalizedFactor(node, readers);
    if (factor < 0) return same;
    const bool isOfGpu = machine.gpu.threads > 0;
    const bool isEarly =
        decide.decide("divide", node, placesToDivide(node, factor), isOfGpu ? 1 : 0,
                      isOfGpu ? "where the rows are made, memory takes the time" : "a result has many terms") == 1;
    return isEarly ? same : normalizedAfter(g, same, factor);
  });
}

}  // namespace svod
