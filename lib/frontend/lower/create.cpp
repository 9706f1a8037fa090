// Ops that make values from sizes and keys.
#include <cmath>

#include "frontend/graph_op.h"

namespace svod {

Results lowerFull(OpCall& call) {
  Tensor value = call.arg(0);
  if (call.has("dtype")) value = cast(value, call.dtype("dtype"));
  if (!value || !call.require(value.rank() == 0, "the value must be a scalar")) return Tensor();
  return call.b.full(call.dims("shape"), value);
}

namespace {
Tensor filled(OpCall& call, double value) {
  return call.b.full(call.dims("shape"), cast(call.b.literal(value), call.dtype("dtype")));
}
}  // namespace

Results lowerZeros(OpCall& call) { return filled(call, 0); }
Results lowerOnes(OpCall& call) { return filled(call, 1); }

Results lowerArange(OpCall& call) {
  int64_t step = call.integer("step");
  constexpr int64_t kLargestStep = int64_t{1} << 40;
  if (step == 0 || step < -kLargestStep || step > kLargestStep)
    return call.fail(Diag::BadAttribute, "the step is " + std::to_string(step), "it is not 0 and below 2^40");
  Dim start = call.dim("start"), stop = call.dim("stop");
  Dim span = step > 0 ? stop - start : start - stop;
  Dim count = floordiv(span + (std::abs(step) - 1), std::abs(step));
  Tensor positions = call.b.iota(larger(count, call.b.dim(0)));
  Tensor values = positions * step + call.b.value(start);
  return cast(values, call.dtype("dtype"));
}

Results lowerEye(OpCall& call) {
  Dim rows = call.dim("n"), columns = call.has("m") ? call.dim("m") : rows;
  Tensor row = unsqueeze(call.b.iota(rows), -1), column = call.b.iota(columns);
  return cast(eq(column - row, call.integer("k")), call.dtype("dtype"));
}

Results lowerSize(OpCall& call) {
  int axis = call.b.axis(call.arg(0), call.integer("axis"));
  return axis < 0 ? Tensor() : cast(call.b.value(call.arg(0).dim(axis)), DType::I64);
}

Results lowerIota(OpCall& call) { return call.b.iota(call.dim("size")); }
Results lowerIndex(OpCall& call) { return call.b.value(call.dim("of")); }

Results lowerVector(OpCall& call) {
  DType dtype = commonDType(call.operands);
  std::vector<UOp> elements;
  for (const Tensor& t : call.operands) {
    if (!call.require(t.rank() == 0, "the elements must be scalars")) return Tensor();
    Tensor element = cast(t, dtype);
    if (!element) return Tensor();
    elements.push_back(element.node());
  }
  return call.b.wrap(call.b.graph().make(Op::Stack, dtype, elements));
}

Results lowerThreefry(OpCall& call) {
  Tensor counter = cast(call.arg(0), DType::U64), key = cast(call.arg(1), DType::U64);
  return elementwise(Op::Threefry, {counter, key});
}

namespace {

// 64 random bits per element. `stream` separates uses of one key.
Tensor randomBits(OpCall& call, const Dims& dims, uint64_t stream) {
  GraphBuilder& b = call.b;
  Dim count = b.dim(1);
  for (const Dim& d : dims) count = count * d;
  Tensor counter = cast(b.iota(count), DType::U64);
  if (stream != 0) counter = counter + b.constant(Scalar::ofInt(DType::U64, static_cast<int64_t>(stream)));
  return reshape(elementwise(Op::Threefry, {counter, cast(call.arg(0), DType::U64)}), dims);
}

// The top bits of `bits` as a fraction in [0, 1): as many as the dtype's significand holds.
Tensor toFraction(GraphBuilder& b, Tensor bits, DType dtype) {
  int kept = info(dtype).fractionBits + 1;
  Tensor shift = b.constant(Scalar::ofInt(DType::U64, 64 - kept));
  DType wide = dtype == DType::F64 ? DType::F64 : DType::F32;
  Tensor top = cast(elementwise(Op::Shr, {bits, shift}), wide);
  return cast(top * std::ldexp(1.0, -kept), dtype);
}

bool checkRandom(OpCall& call) {
  if (!call.require(call.arg(0).rank() == 0, "the key must be a scalar")) return false;
  if (isFloat(call.arg(0).dtype())) {
    call.fail(Diag::DTypeMismatch, "the key is " + describe(call.arg(0)), "use an integer, best a u64");
    return false;
  }
  if (isFloat(call.dtype("dtype"))) return true;
  call.fail(Diag::BadAttribute, "random numbers of dtype " + std::string(toText(call.dtype("dtype"))),
            "use a float dtype and cast");
  return false;
}

}  // namespace

Results lowerRand(OpCall& call) {
  if (!checkRandom(call)) return Tensor();
  return toFraction(call.b, randomBits(call, call.dims("shape"), 0), call.dtype("dtype"));
}

// Box-Muller: two uniform numbers from two counter streams give one normal number.
Results lowerRandn(OpCall& call) {
  if (!checkRandom(call)) return Tensor();
  DType dtype = call.dtype("dtype"), wide = dtype == DType::F64 ? DType::F64 : DType::F32;
  constexpr uint64_t kSecondStream = uint64_t{1} << 63;
  Dims dims = call.dims("shape");
  Tensor radius = toFraction(call.b, randomBits(call, dims, 0), wide);
  Tensor angle = toFraction(call.b, randomBits(call, dims, kSecondStream), wide);
  return cast(sqrt(log(1.0 - radius) * -2.0) * cos(angle * 6.283185307179586), dtype);
}

}  // namespace svod
