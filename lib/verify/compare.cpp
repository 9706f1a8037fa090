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

Status compare(const std::string& name, const HostTensor& expected, const void* data, double allowed) {
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const Scalar actual = HostTensor::readElement(expected.dtype, static_cast<const std::byte*>(data), i);
    if (agree(expected.at(i), actual, allowed)) continue;
    return fail(Diag::Mismatch,
                name + positionText(i, expected.dims) + " is " + toText(actual) + ", the interpreter says " +
                    toText(expected.at(i)),
                kFindThePass);
  }
  return {};
}

Status compareState(const ModelPort& port, const HostTensor& expected, const void* data, double allowed) {
  HostTensor present = HostTensor::zeros(expected.dtype, expected.dims);
  for (int64_t i = 0; i < present.numel(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (size_t axis = expected.dims.size(); axis-- > 0; rest /= expected.dims[axis]) {
      at += rest % expected.dims[axis] * stride;
      stride *= port.buffer.shape()[axis].bounds().max;
    }
    present.set(i, HostTensor::readElement(expected.dtype, static_cast<const std::byte*>(data), at));
  }
  return compare(port.name, expected, present.data.data(), allowed);
}

}  // namespace svod
