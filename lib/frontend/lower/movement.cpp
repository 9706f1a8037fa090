// Movement ops and what is made of them.
#include <algorithm>
#include <numeric>

#include "frontend/lower/common.h"
#include "ir/dim_facts.h"
#include "ir/polynomial.h"

namespace svod {

namespace {

constexpr size_t kMaxRank = 32;  // of a shape given in a file

bool rankFits(OpCall& call, const Dims& dims) {
  if (dims.rank() <= static_cast<int>(kMaxRank)) return true;
  call.fail(Diag::TooLarge, "a shape with " + std::to_string(dims.rank()) + " dims", "at most 32");
  return false;
}

// total / known where every quotient by a number in `known` is exact, as [n, h//2, 2] asks of h: n, not a quotient of
// quotients. Null where that is no size.
Dim ofExactQuotients(GraphBuilder& b, Dim total, Dim known) {
  Graph& g = b.graph();
  const Polynomial product = toPolynomial(g, known.node());
  if (product.size() != 1) return {};
  Dim numerator = b.dim(product[0].factor), denominator = b.dim(1);
  for (UOp atom : product[0].atoms) {
    const bool isQuotient = atom.op() == Op::Floordiv && atom.src(1).isConst();
    numerator = numerator * Dim(g, isQuotient ? atom.src(0) : atom);
    if (isQuotient) denominator = denominator * Dim(g, atom.src(1));
  }
  if (denominator.is(1) || numerator.min() < 1) return {};
  const Dim size = floordiv(total * denominator, numerator);
  return size * numerator == total * denominator ? size : Dim();
}

}  // namespace

Results lowerReshape(OpCall& call) {
  Tensor x = call.arg(0);
  Dims dims = call.dims("shape");
  if (!rankFits(call, dims)) return Tensor();
  Dim known = call.b.dim(1), total = call.b.dim(1);
  int unknown = -1;
  // Sizes that stay need no division, and may be 0.
  const Dims have = x.dims();
  std::vector<Dim> from(have.begin(), have.end());
  for (int i = 0; i < dims.rank(); ++i) {
    auto same = dims[i].isConst() ? from.end() : std::find(from.begin(), from.end(), dims[i]);
    if (same != from.end()) {
      from.erase(same);
    } else if (!dims[i].is(-1)) {
      known = known * dims[i];
    } else if (unknown >= 0) {
      return call.fail(Diag::BadAttribute, "two dims of " + describe(dims) + " are -1", "only one can be computed");
    } else {
      unknown = i;
    }
  }
  for (const Dim& d : from) total = total * d;
  if (unknown >= 0) {
    if (known.is(0))
      return call.fail(Diag::BadAttribute, "the dim -1 of " + describe(dims) + " could be anything",
                       "give it a number");
    // Sizes that may be 0 cancel where they can; elsewhere they are 1 or more, or there is nothing to divide.
    Dim quotient = floordiv(total, known);
    if (quotient * known != total) {
      if (known.min() <= 0) quotient = floordiv(total, larger(known, call.b.dim(1)));
      if (const Dim size = ofExactQuotients(call.b, total, known)) quotient = size;  // runs check it
    }
    dims.set(unknown, quotient);
  }
  return reshape(x, dims);
}

Results lowerFlatten(OpCall& call) {
  Tensor x = call.arg(0);
  int64_t axis = call.integer("axis");
  int at = axis == x.rank() ? x.rank() : call.b.axis(x, axis);
  if (at < 0) return Tensor();
  Dim left = call.b.dim(1), right = call.b.dim(1);
  for (int i = 0; i < x.rank(); ++i) (i < at ? left : right) = (i < at ? left : right) * x.dim(i);
  return reshape(x, {left, right});
}

Results lowerSqueeze(OpCall& call) {
  Tensor x = call.arg(0);
  auto axes = distinctAxes(call, "axes", x.rank());
  if (!axes) return Tensor();
  if (!call.has("axes"))
    for (int i = 0; i < x.rank(); ++i) {
      const Truth isOne = equalDims(x.dim(i).node(), call.b.graph().index(1));
      if (isOne == Truth::Always) axes->push_back(i);
      if (isOne != Truth::Always && isOne != Truth::Never)
        return call.fail(Diag::ShapeMismatch,
                         "axis " + std::to_string(i) + " of " + describe(x) +
                             " may be 1 in a run, which decides whether it is dropped",
                         "list the axes to drop, or give its variables bounds without 1");
    }
  std::sort(axes->rbegin(), axes->rend());
  for (int axis : *axes) x = squeeze(x, axis);
  return x;
}

Results lowerUnsqueeze(OpCall& call) {
  Tensor x = call.arg(0);
  int added = static_cast<int>(call.axes("axes").size());
  auto axes = distinctAxes(call, "axes", x.rank() + added);
  if (!axes) return Tensor();
  std::sort(axes->begin(), axes->end());
  for (int axis : *axes) x = unsqueeze(x, axis);
  return x;
}

Results lowerExpand(OpCall& call) {
  Tensor x = call.arg(0);
  Dims dims = call.dims("shape");
  if (!rankFits(call, dims)) return Tensor();
  for (int i = 1; i <= std::min(dims.rank(), x.rank()); ++i)
    if (dims[-i].is(-1)) dims.set(-i, x.dim(-i));
  return expand(x, dims);
}

Results lowerPermute(OpCall& call) { return permute(call.arg(0), call.axes("order")); }

Results lowerTranspose(OpCall& call) {
  Tensor x = call.arg(0);
  int a = call.b.axis(x, call.integer("axis0")), c = call.b.axis(x, call.integer("axis1"));
  if (a < 0 || c < 0) return Tensor();
  std::vector<int> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[a], order[c]);
  return permute(x, order);
}

namespace {

// Positions inside [0, size) for the padded coordinate `at`, which may lie outside.
Tensor paddedPositions(std::string_view mode, Tensor at, Dim size) {
  Tensor n = at.builder()->value(size);
  if (mode == "edge") return min(max(at, 0), n - 1);
  if (mode == "wrap") return floormod(at, n);
  Tensor period = max((n - 1) * 2, 1);
  Tensor folded = floormod(at, period);
  return min(folded, period - folded);
}

Tensor padByPosition(OpCall& call, Tensor x, const Dims& before, const Dims& after, std::string_view mode) {
  for (int i = 0; x && i < x.rank(); ++i) {
    if (before[i].is(0) && after[i].is(0)) continue;
    Tensor at = call.b.iota(before[i] + x.dim(i) + after[i]) - call.b.value(before[i]);
    x = take(x, i, paddedPositions(mode, at, x.dim(i)));
  }
  return x;
}

}  // namespace

Results lowerPad(OpCall& call) {
  Tensor x = call.arg(0);
  Dims before = call.dims("before"), after = call.dims("after"), offsets, sizes = x.dims();
  size_t rank = static_cast<size_t>(x.rank());
  if (!sameCount(call, before.rank(), rank, "before") || !sameCount(call, after.rank(), rank, "after")) return Tensor();
  Dim zero = call.b.dim(0);
  auto cut = [&](Dim amount) { return call.b.mayBeNegative(amount.node()) ? larger(zero - amount, zero) : zero; };
  for (int i = 0; i < x.rank(); ++i) {
    Dim cutBefore = cut(before[i]), cutAfter = cut(after[i]);
    offsets.add(cutBefore);
    sizes.set(i, sizes[i] - cutBefore - cutAfter);
    before.set(i, before[i] + cutBefore);
    after.set(i, after[i] + cutAfter);
  }
  x = shrink(x, offsets, sizes);
  std::string mode = call.word("mode");
  if (mode == "constant")
    return call.count() > 1 ? pad(x, before, after, call.arg(1)) : pad(x, before, after, call.number("value"));
  return padByPosition(call, x, before, after, mode);
}

Results lowerShrink(OpCall& call) { return shrink(call.arg(0), call.dims("offset"), call.dims("size")); }
Results lowerFlip(OpCall& call) { return flip(call.arg(0), call.axes("axes")); }

Results lowerRoll(OpCall& call) {
  Tensor x = call.arg(0);
  std::vector<int64_t> shifts = call.integers("shifts");
  auto axes = distinctAxes(call, "axes", x.rank());
  if (!axes || !sameCount(call, shifts.size(), axes->size(), "shifts")) return Tensor();
  for (size_t i = 0; i < axes->size() && x; ++i) {
    Dim size = x.dim((*axes)[i]);
    x = take(x, (*axes)[i], floormod(call.b.iota(size) - shifts[i], call.b.value(larger(size, call.b.dim(1)))));
  }
  return x;
}

Results lowerRepeat(OpCall& call) {
  Tensor x = call.arg(0);
  Dims counts = call.dims("counts");
  if (!sameCount(call, counts.rank(), static_cast<size_t>(x.rank()), "counts")) return Tensor();
  Dims split, wide, result;
  for (int i = 0; i < x.rank(); ++i) {
    if (call.b.mayBeNegative(counts[i].node()))
      return call.fail(Diag::BadAttribute,
                       counts[i].isConst() ? "a count is " + describe(counts[i])
                                           : "a count of " + describe(counts[i]) + " can be negative",
                       "counts are 0 or more");
    split = split + Dims{call.b.dim(1), x.dim(i)};
    wide = wide + Dims{counts[i], x.dim(i)};
    result.add(x.dim(i) * counts[i]);
  }
  return reshape(expand(reshape(x, split), wide), result);
}

}  // namespace svod
