#include "opts/dot_opt.h"

#include <algorithm>

#include "ir/ranges.h"
#include "ir/shape.h"
#include "opts/legality.h"
#include "opts/reloop.h"

namespace svod {

namespace {

/// One factor of a product: a small number, and what is added to a byte, the same in all iterations.
struct Factor {
  UOp small, offset = {};  // offset: null for none
};

std::optional<Factor> factorOf(Graph& g, UOp value, std::span<const UOp> loops) {
  if (value.op() == Op::Cast && sumsDots(value.src(0).dtype(), value.dtype())) return Factor{value.src(0)};
  if (isFloat(value.dtype()) || (value.op() != Op::Add && value.op() != Op::Sub)) return std::nullopt;
  UOp varies = value.src(0), fixed = value.src(1);
  if (value.op() == Op::Add && !dependsOnAny(varies, loops)) std::swap(varies, fixed);
  if (dependsOnAny(fixed, loops)) return std::nullopt;
  std::optional<Factor> inner = factorOf(g, varies, loops);
  if (!inner) return std::nullopt;
  if (value.op() == Op::Sub) fixed = g.alu(Op::Neg, {fixed});
  inner->offset = inner->offset ? g.alu(Op::Add, {inner->offset, fixed}) : fixed;
  return inner;
}

/// x is shared by neighbouring results, y differs between them. Null x: a sum of bytes.
struct Product {
  UOp reduce;
  std::optional<Factor> x;
  Factor y;
  int64_t group() const { return dotGroup(y.small.dtype()); }
};

std::optional<Product> productOf(Graph& g, UOp reduce, UOp column) {
  std::span<const UOp> loops = reduce.src().subspan(1);
  if (reduce.argAs<ReduceArg>().op != Op::Add) return std::nullopt;
  UOp value = reduce.src(0);
  if (value.op() != Op::Mul) {
    if (isFloat(value.dtype())) return std::nullopt;
    std::optional<Factor> only = factorOf(g, value, loops);
    return only && !only->offset ? std::optional(Product{reduce, {}, *only}) : std::nullopt;
  }
  std::optional<Factor> a = factorOf(g, value.src(0), loops), b = factorOf(g, value.src(1), loops);
  if (!a || !b) return std::nullopt;
  const bool swaps = column && a->small.dependsOn(column) && !b->small.dependsOn(column);
  return swaps ? Product{reduce, b, *a} : Product{reduce, a, *b};
}

/// The same number as a byte of the other sign and an offset.
Factor withOtherSign(Graph& g, const Factor& f, DType sum) {
  const bool isSignedByte = isSigned(f.small.dtype());
  UOp top = g.constant(Scalar::ofInt(f.small.dtype(), isSignedByte ? -128 : 128));
  UOp shift = g.constant(Scalar::ofInt(sum, isSignedByte ? -128 : 128));
  UOp moved = g.bitcast(g.alu(Op::Xor, {f.small, top}), isSignedByte ? DType::U8 : DType::I8);
  return {moved, f.offset ? g.alu(Op::Add, {f.offset, shift}) : shift};
}

bool needsOtherSign(const Product& p, const Caps& caps) {
  if (isFloat(p.reduce.dtype())) return false;
  const bool alike = isSigned(p.x->small.dtype()) == isSigned(p.y.small.dtype());
  return alike ? caps.mixedDots && !caps.likeDots : caps.likeDots && !caps.mixedDots;
}

UOp times(Graph& g, UOp a, UOp b) { return g.alu(Op::Mul, {a, b}); }

// The sum of (x + p)(y + q) as that of x y, with q times the sum of x, p times the sum of y, and p q for each
// iteration. What y sums up to is needed in the loops that read y anyway; the sum of x gets loops of its own,
// so that its rows are summed before they are used, which are added to `made`.
UOp separated(Graph& g, UOp sink, const Product& p, std::vector<MadeLoop>& made) {
  UOp reduce = p.reduce;
  const DType sum = reduce.dtype();
  std::span<const UOp> loops = reduce.src().subspan(1);
  auto fold = [&](UOp value) {
    std::vector<UOp> src(reduce.src().begin(), reduce.src().end());
    src[0] = value;
    return g.withSrc(reduce, src);
  };
  UOp x = g.cast(p.x->small, sum), y = g.cast(p.y.small, sum), total = fold(times(g, x, y));
  if (p.x->offset) total = g.alu(Op::Add, {total, times(g, p.x->offset, fold(y))});
  if (!p.y.offset) return total;
  std::vector<UOp> own;
  uint32_t id = nextRangeId(sink);
  for (UOp r : loops) {
    own.push_back(g.range(r.src(0), id++, axisType(r)));
    made.push_back({MadeLoop::How::Copy, own.back(), {r}, "z"});
  }
  UOp rows = substitute(g, fold(x), loops, own);
  total = g.alu(Op::Add, {total, times(g, p.y.offset, rows)});
  if (!p.x->offset) return total;
  UOp count = g.constant(Scalar::ofInt(sum, 1));
  for (UOp r : loops) count = times(g, count, g.cast(r.src(0), sum));
  return g.alu(Op::Add, {total, times(g, count, times(g, p.x->offset, p.y.offset))});
}

// A load without a gate that is copied before it is used, so that a gate costs nothing in the loops.
bool isCopied(UOp n, const Caps& caps) {
  if (n.op() != Op::Load || n.srcCount() != 1 || storageOf(n.src(0)).op() != Op::Param) return false;
  const uint32_t slot = storageOf(n.src(0)).argAs<SlotArg>().slot;
  return std::ranges::find(caps.constants, slot) == caps.constants.end();
}

// A factor that is 0 where `valid` is false.
UOp maskedFactor(Graph& g, UOp factor, UOp valid, const Caps& caps) {
  UOp zero = g.constant(Scalar::of(factor.dtype(), 0));
  if (isCopied(factor, caps)) return g.load(factor.src(0), zero, valid);
  const bool isFlipped =
      factor.op() == Op::Bitcast && factor.src(0).op() == Op::Xor && isCopied(factor.src(0).src(0), caps);
  if (!isFlipped) return g.where(valid, factor, zero);
  UOp flip = factor.src(0), load = g.load(flip.src(0).src(0), flip.src(1), valid);
  return g.bitcast(g.alu(Op::Xor, {load, flip.src(1)}), factor.dtype());
}

// where(valid, x * y, 0) as x * (y or 0): the product stays one of small numbers. 0 times infinity would be NaN, so
// both floats are masked.
UOp masksInside(Graph& g, UOp sink, UOp dot, UOp column, const Caps& caps) {
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    UOp value = src.empty() ? UOp() : src[0];
    const bool masked =
        n.op() == Op::Reduce && value.op() == Op::Where && std::ranges::find(n.src(), dot) != n.src().end();
    if (!masked) return g.withSrc(n, src);
    std::vector<UOp> changed(src.begin(), src.end());
    UOp product = value.src(1), valid = value.src(0);
    auto masks = [&](UOp wide) { return g.cast(maskedFactor(g, wide.src(0), valid, caps), wide.dtype()); };
    if (product.op() == Op::Cast) {
      changed[0] = masks(product);
    } else {
      UOp x = product.src(0), y = product.src(1);
      if (column && x.dependsOn(column) && !y.dependsOn(column)) std::swap(x, y);
      changed[0] = times(g, isFloat(x.dtype()) ? masks(x) : x, masks(y));
    }
    return g.withSrc(n, changed);
  });
}

UOp lastOutput(UOp sink) {
  UOp last;
  for (const Axis& axis : axesOf(sink))
    if (axis.nest == Nest::Output) last = axis.range;
  return last;
}

}  // namespace

int64_t dotGroupOf(Graph& g, UOp reduce, const Caps& caps) {
  std::optional<Product> product = productOf(g, reduce, {});
  if (!product || !product->x) return 0;
  if (!isFloat(reduce.dtype())) return caps.mixedDots || caps.likeDots ? product->group() : 0;
  const bool areLoaded = product->x->small.op() == Op::Load && product->y.small.op() == Op::Load;
  return caps.bf16Dots && areLoaded ? product->group() : 0;
}

namespace {

// The products that are summed along an axis, with as many in a group.
Result<std::vector<Product>> productsAlong(Graph& g, UOp sink, const Axis& axis, std::string_view name) {
  std::vector<Product> products;
  for (UOp reduce : closersOf(sink, axis.range)) {
    const bool expanded = std::ranges::any_of(reduce.src().subspan(1), [](UOp r) { return isExpanded(axisType(r)); });
    std::optional<Product> product = expanded ? std::nullopt : productOf(g, reduce, lastOutput(sink));
    if (!product || (!products.empty() && products[0].group() != product->group()))
      return fail(Diag::BadOpt, std::string(name) + " does not sum products of bytes or of bf16",
                  "dot takes an i32 sum of products of two i8 or u8, each less a number if need be, or an f32 sum of "
                  "products of two bf16, before that axis is split");
    products.push_back(std::move(*product));
  }
  return products;
}

}  // namespace

Result<Applied> applyDot(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  if (caps.workgroups) return fail(Diag::BadOpt, "dot is an instruction of CPUs, and this target has workgroups");
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kReduce, {AxisType::Reduce}));
  SVOD_TRY(std::vector<Product> products, productsAlong(g, sink, axis, "axis " + std::to_string(args.axis)));
  const int64_t group = products[0].group();
  if (isFloat(products[0].reduce.dtype()) && caps.numerics == Numerics::Strict)
    return fail(Diag::BadOpt, "dot products of bf16 flush subnormals and skip roundings",
                "compile with --numerics contract");
  if (args.amount != group)
    return fail(Diag::BadOpt, "groups of " + std::to_string(args.amount),
                "dot products of " + std::string(group == 2 ? "bf16" : "bytes") + " take groups of " +
                    std::to_string(group) + ": dot(axis," + std::to_string(group) + ")");
  SVOD_CHECK(pickAmount(axis, group, group));
  std::vector<UOp> from, to;
  std::vector<MadeLoop> made;
  for (Product& product : products) {
    if (!product.x) continue;
    const UOp reduce = product.reduce;
    if (needsOtherSign(product, caps)) product.y = withOtherSign(g, product.y, reduce.dtype());
    from.push_back(reduce), to.push_back(separated(g, sink, product, made));
  }
  const UOp column = lastOutput(sink);
  sink = substitute(g, sink, from, to);
  SplitResult split =
      splitRange(g, sink, {axis.range, group, AxisType::Reduce, AxisType::Dot, SplitForm::Inner, caps.overwrites});
  made.push_back({MadeLoop::How::Part, split.inner, {axis.range}, "d"});
  return Applied(masksInside(g, split.sink, split.inner, column, caps), std::move(made));
}

}  // namespace svod
