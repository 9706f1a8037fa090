#include "onnx/value_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "interp/tensor.h"
#include "ir/bounds.h"

namespace svod {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kExact = 4503599627370496.0;  // 2^52: integers up to here, and their neighbours, are doubles
constexpr int64_t kMostWeights = 1 << 16;
constexpr int kDeepestChoice = 6;  // minima and maxima below a difference

constexpr ValueRange kAnyFloat{-kInfinity, kInfinity, false};

ValueRange both(ValueRange a, ValueRange c) {
  return {std::min(a.least, c.least), std::max(a.most, c.most), a.isNumber && c.isNumber};
}
ValueRange with(ValueRange a, double value) { return both(a, {value, value}); }

ValueRange ofInterval(const Interval& i) {
  auto least = static_cast<double>(i.min), most = static_cast<double>(i.max);
  return {least < -kExact ? -kInfinity : std::min(least, kExact), most > kExact ? kInfinity : std::max(most, -kExact)};
}

Interval intervalOf(ValueRange r) {
  return {r.least < -kExact ? INT64_MIN : static_cast<int64_t>(std::ceil(std::min(r.least, kExact))),
          r.most > kExact ? INT64_MAX : static_cast<int64_t>(std::floor(std::max(r.most, -kExact)))};
}

// Of finite corners only numbers follow. NaN as a corner was infinity minus infinity, or zero times it.
ValueRange ordered(std::initializer_list<double> corners, bool areNumbers) {
  for (double c : corners) {
    if (std::isnan(c)) return kAnyFloat;
    areNumbers &= std::isfinite(c);
  }
  return {std::min(corners), std::max(corners), areNumbers};
}

// What rounding to the dtype, in whatever order a compiler computes, can add. What is too small for it becomes 0.
ValueRange rounded(DType dtype, ValueRange r) {
  const double error = info(dtype).bits >= 32 ? 1e-6 : 1.0 / 64;
  const double normal = std::ldexp(1.0, floatFormat(dtype).minExponent());
  r.least -= std::abs(r.least) * error, r.most += std::abs(r.most) * error;
  if (r.least > 0 && r.least < normal) r.least = 0;
  if (r.most < 0 && r.most > -normal) r.most = 0;
  const double finite = maxFinite(dtype);
  return {r.least < -finite ? -kInfinity : r.least, r.most > finite ? kInfinity : r.most, r.isNumber};
}

ValueRange everything(DType dtype) { return isFloat(dtype) ? kAnyFloat : ofInterval({minInt(dtype), maxInt(dtype)}); }

ValueRange quotient(ValueRange a, ValueRange c) {
  if (c.least <= 0 && c.most >= 0) return kAnyFloat;
  return ordered({a.least / c.least, a.least / c.most, a.most / c.least, a.most / c.most}, a.isNumber && c.isNumber);
}

ValueRange product(ValueRange a, ValueRange c) {
  return ordered({a.least * c.least, a.least * c.most, a.most * c.least, a.most * c.most}, a.isNumber && c.isNumber);
}

bool mayBeEmpty(UOp node, std::span<const int32_t> axes) {
  return std::ranges::any_of(axes, [&](int32_t a) { return node.shape()[static_cast<size_t>(a)].bounds().min < 1; });
}

}  // namespace

ValueRange ValueRanges::allOf(std::span<const UOp> nodes) const {
  ValueRange all = known(nodes[0]);
  for (UOp n : nodes.subspan(1)) all = both(all, known(n));
  return all;
}

// Sources before users, without recursion: chains of ops can be long.
ValueRange ValueRanges::of(UOp root) {
  std::vector<UOp> stack{root};
  while (!stack.empty()) {
    UOp node = stack.back();
    if (known_.contains(node.id())) {
      stack.pop_back();
      continue;
    }
    size_t waiting = stack.size();
    for (UOp s : node.src())
      if (!known_.contains(s.id())) stack.push_back(s);
    if (UOp count = countOf(node); count && !known_.contains(count.id())) stack.push_back(count);
    if (stack.size() > waiting) continue;
    stack.pop_back();
    known_.emplace(node.id(), evaluate(node));
  }
  return known_.at(root.id());
}

ValueRange ValueRanges::evaluate(UOp node) const {
  switch (node.op()) {
    case Op::Const: {
      const Scalar value = node.constant();
      if (!isFloat(node.dtype())) return ofInterval(node.bounds());
      if (std::isnan(value.asFloat())) return everything(node.dtype());
      return {value.asFloat(), value.asFloat()};
    }
    case Op::Var: return variable(node);
    case Op::Buffer: return weights(node);
    case Op::Reshape:
    case Op::Expand:
    case Op::Permute:
    case Op::Shrink:
    case Op::Flip:
    case Op::Contiguous: return known(node.src(0));
    case Op::Pad: return both(known(node.src(0)), known(node.src(1)));
    case Op::Gather: return gathered(node);
    case Op::Stack: return allOf(node.src());
    case Op::Scatter: {
      const bool sets = node.argAs<ReduceArg>().op == Op::Store;
      return sets ? both(known(node.src(0)), known(node.src(node.srcCount() - 1))) : everything(node.dtype());
    }
    case Op::Reduce: return folded(node);
    default: break;
  }
  return isElementwise(node.op()) ? elementwise(node)
         : isFloat(node.dtype())  ? everything(node.dtype())
                                  : ofInterval(node.bounds());
}

// A length is what it counts, between 0 and its room.
ValueRange ValueRanges::variable(UOp node) const {
  const ValueRange all = ofInterval(node.bounds());
  UOp count = countOf(node);
  if (!count) return all;
  const ValueRange counted{std::max(all.least, known(count).least), std::min(all.most, known(count).most)};
  return counted.least <= counted.most ? counted : all;
}

ValueRange ValueRanges::weights(UOp node) const {
  const ModelPort& port = b_.model().ports[node.argAs<SlotArg>().slot];
  int64_t count = 1;
  for (size_t i = 0; i < node.rank() && count >= 0; ++i)
    count = node.dim(i) < 0 || node.dim(i) > kMostWeights ? -1 : std::min(count * node.dim(i), kMostWeights + 1);
  if (port.kind != PortKind::Weight || count < 1 || count > kMostWeights) return everything(node.dtype());
  ValueRange all{kInfinity, -kInfinity};
  for (int64_t i = 0; i < count; ++i) {
    const Scalar s = HostTensor::readMemory(node.dtype(), port.data.data, i);
    const double value = isFloat(s.dtype()) ? s.asFloat() : static_cast<double>(s.asInt());
    all = std::isnan(value) ? ValueRange{all.least, all.most, false} : with(all, value);
  }
  return all.least <= all.most ? all : everything(node.dtype());
}

// What an index names outside of x reads as 0.
ValueRange ValueRanges::gathered(UOp node) const {
  UOp x = node.src(0);
  bool isInside = true;
  for (size_t i = 0; i < x.rank(); ++i) {
    const ValueRange at = known(node.src(1 + i));
    isInside &= at.least >= 0 && at.most < static_cast<double>(x.shape()[i].bounds().min);
  }
  UOp first = x.rank() == 1 ? node.src(1) : UOp();
  if (isInside && x.op() == Op::Stack && first.isConst()) return known(x.src(static_cast<size_t>(first.constInt())));
  return isInside ? known(x) : with(known(x), 0);
}

ValueRange ValueRanges::folded(UOp node) const {
  const ReduceArg& arg = node.argAs<ReduceArg>();
  if ((arg.op == Op::Max || arg.op == Op::Min) && !mayBeEmpty(node.src(0), arg.axes)) return known(node.src(0));
  return everything(node.dtype());
}

// Below casts that keep every value of an integer.
UOp ValueRanges::uncast(UOp node) const {
  while (node.op() == Op::Cast && isInt(node.src(0).dtype()) && isInt(node.dtype())) {
    const ValueRange from = known(node.src(0)), to = ofInterval({minInt(node.dtype()), maxInt(node.dtype())});
    if (from.least < to.least || from.most > to.most) break;
    node = node.src(0);
  }
  return node;
}

// a - c, where what one chooses from may be the other: h - min(x, h) = max(h - x, 0).
ValueRange ValueRanges::difference(UOp a, UOp c, int depth) const {
  a = uncast(a), c = uncast(c);
  if (a == c) return {0, 0};
  const bool isSplit = c.op() == Op::Min || c.op() == Op::Max;
  UOp choice = isSplit ? c : a;
  if (depth == 0 || (choice.op() != Op::Min && choice.op() != Op::Max))
    return {known(a).least - known(c).most, known(a).most - known(c).least};
  UOp p = choice.src(0), q = choice.src(1);
  const ValueRange r = isSplit ? difference(a, p, depth - 1) : difference(p, c, depth - 1);
  const ValueRange s = isSplit ? difference(a, q, depth - 1) : difference(q, c, depth - 1);
  const bool isLarger = isSplit == (choice.op() == Op::Min);
  return isLarger ? ValueRange{std::max(r.least, s.least), std::max(r.most, s.most)}
                  : ValueRange{std::min(r.least, s.least), std::min(r.most, s.most)};
}

// What may overflow is bounded by the dtype alone.
ValueRange ValueRanges::integers(UOp node) const {
  std::vector<Interval> in;
  for (UOp s : node.src()) {
    if (isFloat(s.dtype())) return ofInterval(node.bounds());
    in.push_back(intervalOf(known(s)));
  }
  const ValueRange all = ofInterval(computeBounds(node.op(), node.dtype(), node.src(), in, node.arg()));
  if (node.op() != Op::Sub) return all;
  // Where the operands alone keep the difference within the dtype, it does not wrap.
  const ValueRange limits = ofInterval({minInt(node.dtype()), maxInt(node.dtype())});
  const ValueRange apart = difference(node.src(0), node.src(1), 0);
  const bool isExact = apart.least >= std::max(limits.least, -kExact) && apart.most <= std::min(limits.most, kExact);
  return isExact ? difference(node.src(0), node.src(1), kDeepestChoice) : all;
}

ValueRange ValueRanges::elementwise(UOp node) const {
  const DType dtype = node.dtype();
  const ValueRange a = known(node.src(0));
  if (node.op() == Op::Where) return both(known(node.src(1)), known(node.src(2)));
  if (node.op() == Op::Cast && dtype != DType::Bool) {
    if (isFloat(dtype)) return rounded(dtype, a);
    const Interval limits{minInt(dtype), maxInt(dtype)};
    const ValueRange truncated{std::trunc(a.least), std::trunc(a.most)};
    const ValueRange whole = a.isNumber ? truncated : with(truncated, 0);  // NaN becomes 0
    const bool fits = whole.least >= std::max(static_cast<double>(limits.min), -kExact) &&
                      whole.most <= std::min(static_cast<double>(limits.max), kExact);
    return fits ? whole : everything(dtype);
  }
  if (!isFloat(dtype)) return integers(node);
  const ValueRange c = node.srcCount() > 1 ? known(node.src(1)) : a;
  const bool areNumbers = a.isNumber && c.isNumber;
  switch (node.op()) {
    case Op::Neg: return {-a.most, -a.least, a.isNumber};
    case Op::Abs: return {a.least > 0 ? a.least : std::max(0.0, -a.most), std::max(-a.least, a.most), a.isNumber};
    case Op::Trunc: return {std::trunc(a.least), std::trunc(a.most), a.isNumber};
    case Op::Floor: return {std::floor(a.least), std::floor(a.most), a.isNumber};
    case Op::Ceil: return {std::ceil(a.least), std::ceil(a.most), a.isNumber};
    case Op::Round: return {std::nearbyint(a.least), std::nearbyint(a.most), a.isNumber};
    case Op::Add: return rounded(dtype, ordered({a.least + c.least, a.most + c.most}, areNumbers));
    case Op::Sub: return rounded(dtype, ordered({a.least - c.most, a.most - c.least}, areNumbers));
    case Op::Mul: return rounded(dtype, product(a, c));
    case Op::Fdiv: return rounded(dtype, quotient(a, c));
    case Op::Recip: return rounded(dtype, quotient({1, 1}, a));
    case Op::Max: return {std::max(a.least, c.least), std::max(a.most, c.most), areNumbers};
    case Op::Min: return {std::min(a.least, c.least), std::min(a.most, c.most), areNumbers};
    default: return everything(dtype);
  }
}

}  // namespace svod
