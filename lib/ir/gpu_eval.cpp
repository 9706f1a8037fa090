// Instructions of GPUs that compute lane by lane, on constants: what the interpreter runs.
#include <algorithm>
#include <cmath>

#include "ir/gpu_op.h"

namespace svod {

namespace {

using Operands = std::span<const Scalar>;

Scalar single(double value) { return Scalar::ofFloat(DType::F32, value); }
Scalar bitsOf(DType unsignedType, Scalar value) { return Scalar::fromBits(unsignedType, value.storageBits()); }
Scalar rounded(DType format, Operands x) { return Scalar::ofFloat(format, x[0].asFloat()); }

/// Subnormal numbers become zeros of their sign.
Scalar flushed(Scalar x) {
  const double value = x.asFloat();
  return std::abs(value) < 0x1p-126 ? single(std::copysign(0.0, value)) : x;
}

/// Infinities saturate too.
Scalar toF8e5m2(Operands x) {
  const double most = maxFinite(DType::F8E5M2), value = x[0].asFloat();
  const double limited = std::isnan(value) ? value : std::clamp(value, -most, most);
  return bitsOf(DType::U8, Scalar::ofFloat(DType::F8E5M2, limited));
}
/// NaN wins; of two zeros the one that the sign bit says.
Scalar extremum(Operands x, bool isMax) {
  const double a = x[0].asFloat(), b = x[1].asFloat();
  if (std::isnan(a) || std::isnan(b)) return single(std::nan(""));
  const bool isFirst = a == b ? std::signbit(a) != isMax : (b < a) == isMax;
  return isFirst ? x[0] : x[1];
}
Scalar saturated(Operands x) {
  const double sum = evalScalar(Op::Mulacc, DType::F32, x).asFloat();
  return single(std::isnan(sum) ? 0 : std::clamp(sum, 0.0, 1.0));
}
Scalar reciprocal(Operands x) {
  const Scalar quotient[] = {single(1), flushed(x[0])};
  return flushed(evalScalar(Op::Fdiv, DType::F32, quotient));
}

struct Meaning {
  std::string_view name;
  Scalar (*run)(Operands);
};
constexpr Meaning kMeanings[] = {
    {"f32_bf16", [](Operands x) { return bitsOf(DType::U16, rounded(DType::BF16, x)); }},
    {"round_bf16", [](Operands x) { return single(rounded(DType::BF16, x).asFloat()); }},
    {"f32_f8e4m3", [](Operands x) { return bitsOf(DType::U8, rounded(DType::F8E4M3, x)); }},
    {"f32_f8e5m2", toF8e5m2},
    {"f8e4m3_f32", [](Operands x) { return single(Scalar::fromBits(DType::F8E4M3, x[0].storageBits()).asFloat()); }},
    {"max_nan", [](Operands x) { return extremum(x, true); }},
    {"min_nan", [](Operands x) { return extremum(x, false); }},
    {"fma_sat", saturated},
    {"ex2_approx",
     [](Operands x) {
       const Scalar power = flushed(x[0]);
       return flushed(evalScalar(Op::Exp2, DType::F32, std::span(&power, 1)));
     }},
    {"rcp_approx", reciprocal},
};

}  // namespace

Scalar evalGpu(const GpuOpInfo& row, Operands operands) {
  return std::ranges::find(kMeanings, row.name, &Meaning::name)->run(operands);
}

}  // namespace svod
