#include "optimize/dot_opt.h"

#include <algorithm>

#include "ir/shape.h"
#include "optimize/legality.h"
#include "optimize/reloop.h"

namespace svod {

namespace {

constexpr int64_t kGroup = 4;  // products that the instructions of all CPUs sum up

bool isByte(DType d) { return isInt(d) && info(d).bits == 8; }

bool dependsOnAny(UOp n, std::span<const UOp> ranges) {
  return std::ranges::any_of(ranges, [&](UOp r) { return n.dependsOn(r); });
}

/// One factor of a product: a byte, and what is added to it, the same in all iterations.
struct Factor {
  UOp byte, offset = {};  // offset: null for none
};

std::optional<Factor> factorOf(Graph& g, UOp value, std::span<const UOp> loops) {
  if (value.op() == Op::Cast && isByte(value.src(0).dtype())) return Factor{value.src(0)};
  if (value.op() != Op::Add && value.op() != Op::Sub) return std::nullopt;
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
};

std::optional<Product> productOf(Graph& g, UOp reduce, UOp column) {
  std::span<const UOp> loops = reduce.src().subspan(1);
  const bool adds =
      reduce.argAs<ReduceArg>().op == Op::Add && isInt(reduce.dtype()) && info(reduce.dtype()).bits == 32;
  if (!adds) return std::nullopt;
  UOp value = reduce.src(0);
  if (value.op() != Op::Mul) {
    std::optional<Factor> only = factorOf(g, value, loops);
    return only && !only->offset ? std::optional(Product{reduce, {}, *only}) : std::nullopt;
  }
  std::optional<Factor> a = factorOf(g, value.src(0), loops), b = factorOf(g, value.src(1), loops);
  if (!a || !b) return std::nullopt;
  const bool swaps = column && a->byte.dependsOn(column) && !b->byte.dependsOn(column);
  return swaps ? Product{reduce, b, *a} : Product{reduce, a, *b};
}

/// The same number as a byte of the other sign and an offset.
Factor withOtherSign(Graph& g, const Factor& f, DType sum) {
  const bool isSignedByte = isSigned(f.byte.dtype());
  UOp top = g.constant(Scalar::ofInt(f.byte.dtype(), isSignedByte ? -128 : 128));
  UOp shift = g.constant(Scalar::ofInt(sum, isSignedByte ? -128 : 128));
  UOp moved = g.bitcast(g.alu(Op::Xor, {f.byte, top}), isSignedByte ? DType::U8 : DType::I8);
  return {moved, f.offset ? g.alu(Op::Add, {f.offset, shift}) : shift};
}

bool needsOtherSign(const Product& p, const Caps& caps) {
  const bool alike = isSigned(p.x->byte.dtype()) == isSigned(p.y.byte.dtype());
  return alike ? caps.mixedDots && !caps.likeDots : caps.likeDots && !caps.mixedDots;
}

UOp times(Graph& g, UOp a, UOp b) { return g.alu(Op::Mul, {a, b}); }

// The sum of (x + p)(y + q) as that of x y, with q times the sum of x, p times the sum of y, and p q for each
// iteration. What y sums up to is needed in the loops that read y anyway; the sum of x gets loops of its own,
// so that its rows are summed before they are used.
UOp separated(Graph& g, UOp sink, const Product& p) {
  UOp reduce = p.reduce;
  const DType sum = reduce.dtype();
  std::span<const UOp> loops = reduce.src().subspan(1);
  auto fold = [&](UOp value) {
    std::vector<UOp> src(reduce.src().begin(), reduce.src().end());
    src[0] = value;
    return g.withSrc(reduce, src);
  };
  UOp x = g.cast(p.x->byte, sum), y = g.cast(p.y.byte, sum), total = fold(times(g, x, y));
  if (p.x->offset) total = g.alu(Op::Add, {total, times(g, p.x->offset, fold(y))});
  if (!p.y.offset) return total;
  std::vector<UOp> own;
  uint32_t id = nextRangeId(sink);
  for (UOp r : loops) own.push_back(g.range(r.src(0), id++, axisType(r)));
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

// A byte that is 0 where `valid` is false.
UOp maskedByte(Graph& g, UOp byte, UOp valid, const Caps& caps) {
  UOp zero = g.constant(Scalar::ofInt(byte.dtype(), 0));
  if (isCopied(byte, caps)) return g.load(byte.src(0), zero, valid);
  const bool isFlipped =
      byte.op() == Op::Bitcast && byte.src(0).op() == Op::Xor && isCopied(byte.src(0).src(0), caps);
  if (!isFlipped) return g.where(valid, byte, zero);
  UOp flip = byte.src(0), load = g.load(flip.src(0).src(0), flip.src(1), valid);
  return g.bitcast(g.alu(Op::Xor, {load, flip.src(1)}), byte.dtype());
}

// where(valid, x * y, 0) as x * (y or 0): the product stays one of bytes.
UOp masksInside(Graph& g, UOp sink, UOp dot, UOp column, const Caps& caps) {
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    UOp value = src.empty() ? UOp() : src[0];
    const bool masked =
        n.op() == Op::Reduce && value.op() == Op::Where && std::ranges::find(n.src(), dot) != n.src().end();
    if (!masked) return g.withSrc(n, src);
    std::vector<UOp> changed(src.begin(), src.end());
    UOp product = value.src(1), valid = value.src(0);
    auto masks = [&](UOp wide) { return g.cast(maskedByte(g, wide.src(0), valid, caps), wide.dtype()); };
    if (product.op() == Op::Cast) {
      changed[0] = masks(product);
    } else {
      UOp x = product.src(0), y = product.src(1);
      if (column && x.dependsOn(column) && !y.dependsOn(column)) std::swap(x, y);
      changed[0] = times(g, x, masks(y));
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

bool sumsBytes(Graph& g, UOp reduce) {
  std::optional<Product> product = productOf(g, reduce, {});
  return product && product->x;
}

Result<UOp> applyDot(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  if (caps.workgroups)
    return fail(Diag::BadOpt, "dot is an instruction of CPUs, and this target has workgroups");
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kReduce, {AxisType::Reduce}));
  SVOD_TRY(int64_t n, pickAmount(axis, args.amount, kGroup));
  if (n != kGroup)
    return fail(Diag::BadOpt, "groups of " + std::to_string(n), "dot products take groups of 4: dot(axis,4)");
  UOp column = lastOutput(sink);
  std::vector<UOp> from, to;
  for (UOp reduce : closersOf(sink, axis.range)) {
    const bool expanded =
        std::ranges::any_of(reduce.src().subspan(1), [](UOp r) { return isExpanded(axisType(r)); });
    std::optional<Product> product = expanded ? std::nullopt : productOf(g, reduce, column);
    if (!product)
      return fail(Diag::BadOpt, "axis " + std::to_string(args.axis) + " does not sum products of bytes",
                  "dot takes an i32 sum of products of two i8 or u8, each less a number if need be, before "
                  "that axis is split");
    if (!product->x) continue;
    if (needsOtherSign(*product, caps)) product->y = withOtherSign(g, product->y, reduce.dtype());
    from.push_back(reduce), to.push_back(separated(g, sink, *product));
  }
  sink = substitute(g, sink, from, to);
  SplitResult split = splitRange(
      g, sink, {axis.range, n, AxisType::Reduce, AxisType::Dot, SplitForm::Inner, caps.overwrites});
  return masksInside(g, split.sink, split.inner, column, caps);
}

}  // namespace svod
