#include "verify/inputs.h"

#include <cmath>

namespace svod {

namespace {

/// Floats in [-1, 1] in steps of 1/64, which every float dtype but the 8-bit ones holds exactly; integers in [0, 7].
Scalar plainElement(DType dtype, Random& random) {
  const double value = isFloat(dtype) ? static_cast<double>(random.between(-64, 64)) / 64.0
                                      : static_cast<double>(random.between(0, dtype == DType::Bool ? 1 : 7));
  return Scalar::of(dtype, value);
}

Scalar wildElement(DType dtype, Random& random) {
  if (!isFloat(dtype)) {
    const int64_t kEnds[] = {minInt(dtype), maxInt(dtype), -1, 0};
    const bool isEnd = random.between(0, 1) == 0;
    return Scalar::ofInt(dtype, isEnd ? kEnds[random.between(0, 3)] : static_cast<int64_t>(random.next()));
  }
  const double tiny = Scalar::fromBits(dtype, 1).asFloat();
  const double kEnds[] = {HUGE_VAL, -HUGE_VAL, std::nan(""), -0.0, tiny, -tiny, maxFinite(dtype), -maxFinite(dtype)};
  if (random.between(0, 2) == 0) return Scalar::ofFloat(dtype, kEnds[random.between(0, 7)]);
  return Scalar::ofFloat(dtype, static_cast<double>(random.between(-(1 << 20), 1 << 20)) / 4096.0);
}

}  // namespace

Scalar neighbour(const Scalar& value, Random& random) {
  if (!isFloat(value.dtype()) || !std::isfinite(value.asFloat()) || value.asFloat() == 0) return value;
  const uint64_t bits = value.storageBits();
  return Scalar::fromBits(value.dtype(), random.between(0, 1) == 0 ? bits - 1 : bits + 1);
}

HostTensor randomTensor(DType dtype, std::vector<int64_t> dims, Random& random, bool wild) {
  HostTensor tensor = HostTensor::zeros(dtype, std::move(dims));
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.set(i, wild && random.between(0, 1) == 0 ? wildElement(dtype, random) : plainElement(dtype, random));
  return tensor;
}

}  // namespace svod
