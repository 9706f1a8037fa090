#include "lower/decompose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/gpu_op.h"

namespace svod {

namespace {

bool isBool(DType d) { return d == DType::Bool; }
bool isSingle(DType d) { return d == DType::F32; }
bool isAnyFloat(DType d) { return isFloat(d); }
bool isAnyInt(DType d) { return isInt(d); }
bool isAny(DType) { return true; }

using namespace detail;

constexpr Decomposition kDecompositions[] = {
    {"bool-neg", "-b is b", Op::Neg, isBool, decomposeBool},
    {"bool-abs", "|b| is b", Op::Abs, isBool, decomposeBool},
    {"bool-add", "or", Op::Add, isBool, decomposeBool},
    {"bool-sub", "exclusive or", Op::Sub, isBool, decomposeBool},
    {"bool-mul", "and", Op::Mul, isBool, decomposeBool},
    {"bool-max", "or", Op::Max, isBool, decomposeBool},
    {"bool-min", "and", Op::Min, isBool, decomposeBool},
    {"bool-cdiv", "a or not b, as x/0 is all ones", Op::Cdiv, isBool, decomposeBool},
    {"bool-cmod", "a and not b, as x%0 is x", Op::Cmod, isBool, decomposeBool},
    {"bool-floordiv", "a or not b, as x/0 is all ones", Op::Floordiv, isBool, decomposeBool},
    {"bool-floormod", "a and not b, as x%0 is x", Op::Floormod, isBool, decomposeBool},
    {"bool-shl", "a and not b, as a shift by the width gives 0", Op::Shl, isBool, decomposeBool},
    {"bool-shr", "a and not b, as a shift by the width gives 0", Op::Shr, isBool, decomposeBool},
    {"bool-lt", "not a and b", Op::Lt, isBool, decomposeBool},
    {"bool-le", "not a or b", Op::Le, isBool, decomposeBool},
    {"bool-eq", "not exclusive or", Op::Eq, isBool, decomposeBool},
    {"bool-ne", "exclusive or", Op::Ne, isBool, decomposeBool},
    {"bool-mulacc", "a and b or c", Op::Mulacc, isBool, decomposeBool},
    {"int-abs", "x < 0 ? -x : x", Op::Abs, isAnyInt, decomposeIntAbs},
    {"int-mulacc", "a * b + c", Op::Mulacc, isAnyInt, decomposeIntMulacc},
    {"cdiv-guard", "no zero divisor, no MIN / -1; powers of two as shifts", Op::Cdiv, isAnyInt, decomposeCdiv},
    {"cmod-guard", "no zero divisor, no MIN % -1; powers of two as masks", Op::Cmod, isAnyInt, decomposeCdiv},
    {"floordiv", "cdiv and a correction; powers of two as shifts", Op::Floordiv, isAnyInt, decomposeFloordiv},
    {"floormod", "cmod and a correction; powers of two as masks", Op::Floormod, isAnyInt, decomposeFloordiv},
    {"shl-guard", "0 for counts of the width or more", Op::Shl, isAnyInt, decomposeShift},
    {"shr-guard", "0 or the sign for counts of the width or more", Op::Shr, isAnyInt, decomposeShift},
    {"threefry", "20 rounds on 32-bit words", Op::Threefry, isAnyInt, decomposeThreefry},
    {"cast", "to bool as x != 0; float to integer saturates, NaN gives 0", Op::Cast, isAny, decomposeCast},
    {"float-max", "compare and select, NaN wins", Op::Max, isAnyFloat, decomposeFloatMaxMin},
    {"float-min", "compare and select, NaN wins", Op::Min, isAnyFloat, decomposeFloatMaxMin},
    {"fdiv", "by constants, and where a GPU may approximate: by a reciprocal, and a step that corrects", Op::Fdiv,
     isSingle, decomposeFdiv},
    {"recip", "1 / x", Op::Recip, isAnyFloat, decomposeRecip},
    {"trunc", "through integers where the target has no such instruction", Op::Trunc, isAnyFloat, decomposeRounding},
    {"floor", "through integers where the target has no such instruction", Op::Floor, isAnyFloat, decomposeRounding},
    {"ceil", "through integers where the target has no such instruction", Op::Ceil, isAnyFloat, decomposeRounding},
    {"round", "through integers where the target has no such instruction", Op::Round, isAnyFloat, decomposeRounding},
    {"fmod", "long division of mantissas, many bits of the quotient at once", Op::Fmod, isAnyFloat, decomposeFmod},
    {"reduce", "fold of lanes by ops that are decomposed themselves", Op::Reduce, isAny, decomposeReduce},
    {"scaleb", "products with powers of two, of which the last one rounds", Op::Scaleb, isAnyFloat, decomposeScaleb},
    {"exp", "2^n e^r with a polynomial in r", Op::Exp, isAnyFloat, decomposeExp},
    {"exp2", "2^n 2^r with a polynomial in r", Op::Exp2, isAnyFloat, decomposeExp},
    {"log", "n log 2 + log m with a polynomial in m - 1", Op::Log, isAnyFloat, decomposeLog},
    {"log2", "n + log2 m with a polynomial in m - 1", Op::Log2, isAnyFloat, decomposeLog},
    {"sin", "remainder by pi/2 from the bits of 2/pi, then a polynomial", Op::Sin, isAnyFloat, decomposeTrig},
    {"cos", "remainder by pi/2 from the bits of 2/pi, then a polynomial", Op::Cos, isAnyFloat, decomposeTrig},
    {"tan", "sin / cos", Op::Tan, isAnyFloat, decomposeTrig},
    {"tanh", "polynomial near 0, else 1 - 2 / (e^2x + 1)", Op::Tanh, isAnyFloat, decomposeTanh},
    {"erf", "polynomial; f64: near 0, else 1 - e^p(x)", Op::Erf, isAnyFloat, decomposeErf},
    {"pow", "2^(y log2 x) with extra precision in between", Op::Pow, isAnyFloat, decomposePow},
};

// Folds that keep the guards of the decompositions small. Null: none applies.
UOp simplify(Op op, std::span<const UOp> src) {
  if (op == Op::Where) {
    if (src[0].isConst()) return src[0].constInt() != 0 ? src[1] : src[2];
    return src[1] == src[2] ? src[1] : UOp();
  }
  if ((op != Op::And && op != Op::Or) || src[0].dtype() != DType::Bool) return {};
  for (int i : {0, 1}) {
    UOp other = src[1 - i];
    if (!src[i].isConst()) continue;
    bool neutral = (src[i].constInt() != 0) == (op == Op::And);
    return neutral ? other : src[i];
  }
  return {};
}

}  // namespace

std::span<const Decomposition> decompositions() { return kDecompositions; }

UOp Emitter::make(Op op, DType dtype, std::span<const UOp> src, const Arg& arg) {
  if (isElementwise(op)) {
    if (std::ranges::all_of(src, [](UOp s) { return s.isConst(); })) {
      std::vector<Scalar> operands;
      for (UOp s : src) operands.push_back(s.constant());
      return graph.constant(evalScalar(op, dtype, operands));
    }
    if (UOp simple = simplify(op, src)) return simple;
  }
  for (const Decomposition& row : kDecompositions) {
    if (row.op != op || src.empty() || !row.applies(src[0].dtype())) continue;
    if (UOp result = row.run(*this, {op, dtype, src, arg})) return result;
  }
  UOp result = graph.make(op, dtype, src, arg);
  if (op == Op::Add && dtype == DType::F32) noteSum(result);
  return result;
}

bool Emitter::has(std::string_view instruction) const {
  return hasGpuOp(instruction, options.gpuFamily, options.gpuGeneration);
}

Emitter::FloatRange Emitter::rangeOf(UOp x) const {
  if (x.isConst()) return {x.constant().asFloat(), x.constant().asFloat()};
  const auto known = ranges_.find(x.id());
  const double infinity = std::numeric_limits<double>::infinity();
  return known == ranges_.end() ? FloatRange{-infinity, infinity} : known->second;
}

void Emitter::noteSum(UOp x) {
  const FloatRange a = rangeOf(x.src(0)), b = rangeOf(x.src(1));
  if (std::isfinite(a.least + b.least) || std::isfinite(a.most + b.most))
    noteRange(x, {a.least + b.least, a.most + b.most});
}

UOp foldLanes(Graph& graph, UOp x, const std::function<UOp(UOp, UOp)>& step) {
  int width = x.lanes();
  if (width == 1) return x.isScalar() ? x : graph.make(Op::Lane, x.dtype(), {x}, SlotArg{0, Space::Reg});
  auto lane = [&](UOp v, int i) {
    return v.op() == Op::Stack ? v.src(i)
                               : graph.make(Op::Lane, v.dtype(), {v}, SlotArg{static_cast<uint32_t>(i), Space::Reg});
  };
  auto pick = [&](int begin, int count) {
    if (count == 1) return lane(x, begin);
    std::vector<UOp> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(lane(x, begin + i));
    return graph.make(Op::Stack, x.dtype(), lanes);
  };
  int half = width / 2;
  UOp folded = foldLanes(graph, step(pick(0, half), pick(half, half)), step);
  return width % 2 == 0 ? folded : step(folded, lane(x, width - 1));
}

namespace detail {

UOp decomposeReduce(Emitter& e, const Call& call) {
  Op op = std::get<ReduceArg>(call.arg).op;
  DType d = call.dtype;
  bool native = isFloat(d) ? op == Op::Add || op == Op::Mul : d != DType::Bool;
  if (native || call.src.size() > 1) return {};
  return foldLanes(e.graph, call.src[0], [&](UOp a, UOp b) { return e.make(op, d, {a, b}); });
}

UOp legalizeOps(Graph& graph, UOp root, const LegalizeOptions& options) {
  Emitter e(graph, options);
  return transform(graph, root, [&](UOp node, std::span<const UOp> src) {
    bool computes = isElementwise(node.op()) || node.op() == Op::Reduce;
    std::vector<UOp> list(src.begin(), src.end());
    if (node.op() == Op::Reduce || node.op() == Op::Index) {
      UOp& lanes = list[node.op() == Op::Index ? 1 : 0];  // they may have folded to one constant
      auto width = static_cast<size_t>(node.op() == Op::Index ? node.src(1).lanes() : node.src(0).lanes());
      if (static_cast<size_t>(lanes.lanes()) < width)
        lanes = graph.make(Op::Stack, lanes.dtype(), std::vector<UOp>(width, lanes));
    }
    if (node.op() == Op::Lane && list[0].isScalar()) return list[0];
    return computes ? e.make(node.op(), node.dtype(), list, node.arg()) : graph.withSrc(node, list);
  });
}

}  // namespace detail

}  // namespace svod
