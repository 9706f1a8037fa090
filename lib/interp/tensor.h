// A dense row-major array in storage format: what is bound to ports and what the interpreter returns.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "ir/scalar.h"

namespace svod {

/// `data` holds numel() elements of byteSize(dtype) bytes each, little-endian, row-major; i2, u4, f4e2m1 and the like
/// have a byte for each element, in whose low bits they stand. dtype Void means "none".
struct HostTensor {
  DType dtype = DType::Void;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;

  static HostTensor zeros(DType dtype, std::vector<int64_t> dims);
  /// Elements converted with Scalar::of. There must be numel() of them.
  static HostTensor of(DType dtype, std::vector<int64_t> dims, std::initializer_list<double> values);

  /// From the memory of a port, memoryBytes(dtype, elements) bytes, and back: elements of 2 and 4 bits share bytes
  /// there.
  static HostTensor fromMemory(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> memory);
  std::vector<std::byte> toMemory() const;

  int64_t numel() const;
  /// Element `i` in row-major order; no bounds check.
  Scalar at(int64_t i) const { return readElement(dtype, data.data(), i); }
  void set(int64_t i, const Scalar& value) { writeElement(dtype, data.data(), i, value); }

  static Scalar readElement(DType dtype, const std::byte* data, int64_t i);
  static Scalar readMemory(DType dtype, const std::byte* memory, int64_t i);  // element i of the memory of a port
  static void writeElement(DType dtype, std::byte* data, int64_t i, const Scalar& value);

  bool operator==(const HostTensor&) const = default;
};

/// Product of dims, 1 for none.
int64_t numelOf(std::span<const int64_t> dims);

/// Equal dtype, dims and elements, where any NaN equals any NaN and, with `equalZeros`, -0 equals +0.
bool sameValues(const HostTensor& a, const HostTensor& b, bool equalZeros = false);

}  // namespace svod
