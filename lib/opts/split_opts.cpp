#include "opts/split_opts.h"

#include <algorithm>
#include <bit>

#include "opts/legality.h"
#include "opts/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int64_t kMaxUpcast = 64, kMaxUnroll = 32, kMaxLanes = 64;

// Unroll runs the copies of one iteration of `range` back to back, so loops nested inside would change places
// with it.
Status keepsOrder(UOp sink, UOp range, const Caps& caps) {
  for (UOp closer : closersOf(sink, range)) {
    auto list = closer.src().subspan(1);
    auto inner = std::ranges::find_if(std::ranges::find(list, range) + 1, list.end(),
                                      [](UOp r) { return axisType(r) != AxisType::Unroll; });
    if (inner != list.end()) return mayReorder(sink, range, caps);
  }
  return {};
}

// reduce(v, k.., a, vectors..) -> reduce(reduce(v, k..), a, vectors..): one accumulator per value of a.
UOp nestReduces(Graph& g, UOp sink, UOp copies) {
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    bool closes = n.op() == Op::Reduce && std::ranges::find(n.src(), copies) != n.src().end();
    if (!closes) return g.withSrc(n, src);
    std::vector<UOp> inner{src[0]}, outer{UOp()};
    for (UOp r : src.subspan(1)) (r == copies || axisType(r) == AxisType::Vector ? outer : inner).push_back(r);
    outer[0] = g.withSrc(n, inner);
    return g.withSrc(n, outer);
  });
}

// `amount` consecutive iterations become a loop of their own inside; the outer loop keeps its type.
SplitResult splitInner(Graph& g, UOp sink, UOp range, int64_t amount, AxisType inner, const Caps& caps) {
  return splitRange(g, sink, {range, amount, axisType(range), inner, SplitForm::Inner, caps.overwrites});
}

// What is left of the loop keeps its name.
Applied steps(const SplitResult& split, UOp range, const char* label) {
  return {split.sink, {{MadeLoop::How::Part, split.inner, {range}, label}}};
}

bool isDivided(UOp sink, UOp range) {
  return std::ranges::any_of(toposort(sink), [&](UOp n) {
    return (n.op() == Op::Floordiv || n.op() == Op::Cdiv) && n.src(0) == range && n.src(1).isConst();
  });
}

}  // namespace

Result<Applied> applyUpcast(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kOutput | kFill,
                               {AxisType::Loop, AxisType::Thread, AxisType::Global, AxisType::Local}));
  SVOD_TRY(int64_t n, pickAmount(axis, args.amount, kMaxUpcast));
  return steps(splitInner(g, sink, axis.range, n, AxisType::Upcast, caps), axis.range, "u");
}

Result<Applied> applyVector(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kAnyNest, {AxisType::Loop, AxisType::Thread, AxisType::Reduce}));
  if (args.amount < 2 || args.amount > kMaxLanes || !std::has_single_bit(static_cast<uint64_t>(args.amount)))
    return fail(Diag::BadOpt, "no vector has " + std::to_string(args.amount) + " lanes", "use 2, 4, 8, 16, 32 or 64");
  for (UOp closer : closersOf(sink, axis.range))
    for (UOp r : closer.src().subspan(1))
      if (axisType(r) == AxisType::Vector) return fail(Diag::BadOpt, "this loop nest already has a vector axis");
  if (axis.nest == Nest::Reduce) SVOD_CHECK(mayReorder(sink, axis.range, caps));
  return steps(splitInner(g, sink, axis.range, args.amount, AxisType::Vector, caps), axis.range, "v");
}

Result<Applied> applyUnroll(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kReduce, {AxisType::Reduce, AxisType::Loop, AxisType::Group}));
  SVOD_TRY(int64_t n, pickAmount(axis, args.amount, kMaxUnroll));
  SVOD_CHECK(keepsOrder(sink, axis.range, caps));
  return steps(splitInner(g, sink, axis.range, n, AxisType::Unroll, caps), axis.range, "r");
}

Result<Applied> applyAcc(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kReduce, {AxisType::Reduce, AxisType::Loop}));
  SVOD_TRY(int64_t n, pickAmount(axis, args.amount, kMaxUnroll));
  SVOD_CHECK(mayReorder(sink, axis.range, caps));
  SplitResult split = splitInner(g, sink, axis.range, n, AxisType::Upcast, caps);
  return steps({nestReduces(g, split.sink, split.inner), split.outer, split.inner}, axis.range, "a");
}

Result<Applied> applyTile(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kAnyNest, {AxisType::Loop, AxisType::Thread, AxisType::Reduce}));
  SVOD_TRY(int64_t n, pickAmount(axis, args.amount, INT32_MAX));
  if (constExtent(axis.range) == n)
    return fail(Diag::BadOpt, "a tile of the whole axis changes nothing", "use a smaller amount");
  const AxisType type = axisType(axis.range), inner = type == AxisType::Thread ? AxisType::Loop : type;
  // Copies of a workgroup bring zeros where there are no terms: that is simpler than which of them were there before.
  const bool once = caps.overwrites || (caps.workgroups && axis.nest == Nest::Reduce);
  SplitResult split = splitRange(g, sink, {axis.range, n, type, inner, SplitForm::Inner, once});
  if (isDivided(sink, axis.range))
    split.sink = simplify(g, split.sink);  // what a group reads depends on its number alone
  return Applied(split.sink, partsOf(split, axis.range));
}

Result<Applied> applyPadTo(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kOutput | kReduce,
                               {AxisType::Loop, AxisType::Reduce, AxisType::Global, AxisType::Local}));
  std::optional<int64_t> extent = constExtent(axis.range);
  if (!extent) return fail(Diag::BadOpt, "padto of an axis of symbolic extent", "use tile, which masks the remainder");
  if (args.amount < 2)
    return fail(Diag::BadOpt, "padto to multiples of " + std::to_string(args.amount), "use 2 or more");
  int64_t padded = (*extent + args.amount - 1) / args.amount * args.amount;
  if (padded == *extent)
    return fail(Diag::BadOpt, "the extent is a multiple of " + std::to_string(args.amount) + " already",
                "leave it out");
  SVOD_CHECK(checkPadding(*extent, padded));
  AxisArg arg = axis.range.argAs<AxisArg>();
  UOp wide = g.range(g.index(padded), arg.id, arg.type);
  return reloop(g, sink, Reloop{axis.range, wide, {wide}, g.alu(Op::Lt, {wide, axis.range.src(0)})});
}

}  // namespace svod
