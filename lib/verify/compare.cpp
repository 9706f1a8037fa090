#include "verify/compare.h"

#include <algorithm>
#include <cmath>

#include "interp/same_values.h"

namespace svod {

namespace {

constexpr double kUnitsOfLastPlace = 256;
/// A result may differ by this many times what the last bits of the inputs change of it.
constexpr double kSensitivity = 16;

double units(const HostTensor& expected) {
  double largest = 1e-30;
  for (int64_t i = 0; i < expected.numel(); ++i)
    if (const double v = std::abs(expected.at(i).asFloat()); std::isfinite(v)) largest = std::max(largest, v);
  return largest * kUnitsOfLastPlace * std::ldexp(1.0, -info(expected.dtype).fractionBits - 1);
}

double distance(const HostTensor& a, const HostTensor& b) {
  double largest = 0;
  for (int64_t i = 0; i < std::min(a.numel(), b.numel()); ++i)
    if (const double d = std::abs(a.at(i).asFloat() - b.at(i).asFloat()); std::isfinite(d))
      largest = std::max(largest, d);
  return largest;
}

std::string positionText(int64_t flat, const std::vector<int64_t>& dims) {
  std::vector<int64_t> position(dims.size());
  for (size_t i = dims.size(); i-- > 0; flat /= dims[i]) position[i] = flat % dims[i];
  std::string text = "[";
  for (size_t i = 0; i < position.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(position[i]);
  return text + "]";
}

}  // namespace

double ResultTolerance::of(size_t port, const HostTensor& expected) const {
  if (certainties[port] != Certainty::Free || !isFloat(expected.dtype)) return 0;
  return std::max(units(expected), moved.empty() ? 0 : kSensitivity * distance(expected, moved[port]));
}

Status compare(const std::string& name, const HostTensor& expected, const HostTensor& actual, double allowed,
               const HostTensor* bounds, int64_t* open) {
  for (int64_t i = 0; i < expected.numel(); ++i) {
    if (agree(expected.at(i), actual.at(i), allowed)) continue;
    const double bound = bounds == nullptr || bounds->dtype == DType::Void ? 0 : bounds->at(i).asFloat();
    if (!std::isfinite(bound)) {
      *open += 1;
      continue;
    }
    if (agree(expected.at(i), actual.at(i), bound)) continue;
    return fail(Diag::Mismatch,
                name + positionText(i, expected.dims) + " is " + toText(actual.at(i)) + ", the interpreter says " +
                    toText(expected.at(i)),
                kFindThePass);
  }
  return {};
}

HostTensor presentState(const ModelPort& port, const HostTensor& like, const void* data) {
  HostTensor present = HostTensor::zeros(like.dtype, like.dims);
  for (int64_t i = 0; i < present.numel(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (size_t axis = like.dims.size(); axis-- > 0; rest /= like.dims[axis]) {
      at += rest % like.dims[axis] * stride;
      stride *= port.buffer.shape()[axis].bounds().max;
    }
    present.set(i, HostTensor::readElement(like.dtype, static_cast<const std::byte*>(data), at));
  }
  return present;
}

}  // namespace svod
