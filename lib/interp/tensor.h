// A dense row-major array in storage format: what is bound to ports and what the interpreter returns.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "ir/scalar.h"

namespace svod {

/// `data` holds numel() elements of byteSize(dtype) bytes each, little-endian, row-major. dtype Void means "none".
struct HostTensor {
  DType dtype = DType::Void;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;

  static HostTensor zeros(DType dtype, std::vector<int64_t> dims);
  /// Elements converted with Scalar::of. There must be numel() of them.
  static HostTensor of(DType dtype, std::vector<int64_t> dims, std::initializer_list<double> values);

  int64_t numel() const;
  /// Element `i` in row-major order; no bounds check.
  Scalar at(int64_t i) const { return readElement(dtype, data.data(), i); }
  void set(int64_t i, const Scalar& value) { writeElement(dtype, data.data(), i, value); }

  static Scalar readElement(DType dtype, const std::byte* data, int64_t i);
  static void writeElement(DType dtype, std::byte* data, int64_t i, const Scalar& value);

  bool operator==(const HostTensor&) const = default;
};

/// Product of dims, 1 for none.
int64_t numelOf(std::span<const int64_t> dims);

/// Equal dtype, dims and elements, where any NaN equals any NaN and, with `equalZeros`, -0 equals +0.
bool sameValues(const HostTensor& a, const HostTensor& b, bool equalZeros = false);

}  // namespace svod
