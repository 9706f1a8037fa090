#include "interp/tensor.h"

#include <cmath>
#include <cstring>

#include "support/packed.h"

namespace svod {

int64_t numelOf(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t d : dims) product *= d;
  return product;
}

HostTensor HostTensor::zeros(DType dtype, std::vector<int64_t> dims) {
  size_t bytes = static_cast<size_t>(numelOf(dims)) * byteSize(dtype);
  return {dtype, std::move(dims), std::vector<std::byte>(bytes)};
}

HostTensor HostTensor::of(DType dtype, std::vector<int64_t> dims, std::initializer_list<double> values) {
  HostTensor t = zeros(dtype, std::move(dims));
  int64_t i = 0;
  for (double v : values) t.set(i++, Scalar::of(dtype, v));
  return t;
}

HostTensor HostTensor::fromMemory(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> memory) {
  auto count = static_cast<uint64_t>(numelOf(dims));
  if (isPacked(dtype)) return {dtype, std::move(dims), unpackCodes(info(dtype).bits, isSigned(dtype), memory, count)};
  return {dtype, std::move(dims), {memory.begin(), memory.end()}};
}

std::vector<std::byte> HostTensor::toMemory() const {
  return isPacked(dtype) ? packCodes(info(dtype).bits, data) : data;
}

int64_t HostTensor::numel() const { return numelOf(dims); }

namespace {

/// The element of that many bytes at `from`; a copy of a known size needs no call.
uint64_t bitsAt(const std::byte* from, size_t size) {
  uint64_t bits = 0;
  switch (size) {
    case 1: std::memcpy(&bits, from, 1); break;
    case 2: std::memcpy(&bits, from, 2); break;
    case 4: std::memcpy(&bits, from, 4); break;
    default: std::memcpy(&bits, from, size); break;
  }
  return bits;
}

void putBits(std::byte* to, size_t size, uint64_t bits) {
  switch (size) {
    case 1: std::memcpy(to, &bits, 1); break;
    case 2: std::memcpy(to, &bits, 2); break;
    case 4: std::memcpy(to, &bits, 4); break;
    default: std::memcpy(to, &bits, size); break;
  }
}

}  // namespace

Scalar HostTensor::readElement(DType dtype, const std::byte* data, int64_t i) {
  const auto size = static_cast<size_t>(byteSize(dtype));
  return Scalar::fromBits(dtype, bitsAt(data + static_cast<size_t>(i) * size, size));
}

Scalar HostTensor::readMemory(DType dtype, const std::byte* memory, int64_t i) {
  if (!isPacked(dtype)) return readElement(dtype, memory, i);
  return Scalar::fromBits(dtype, codeAt(info(dtype).bits, memory, static_cast<uint64_t>(i)));
}

void HostTensor::writeElement(DType dtype, std::byte* data, int64_t i, const Scalar& value) {
  const auto size = static_cast<size_t>(byteSize(dtype));
  putBits(data + static_cast<size_t>(i) * size, size, value.storageBits());
}

bool sameValues(const HostTensor& a, const HostTensor& b, bool equalZeros) {
  if (a.dtype != b.dtype || a.dims != b.dims) return false;
  if (a.data == b.data) return true;
  for (int64_t i = 0; i < a.numel(); ++i) {
    Scalar x = a.at(i), y = b.at(i);  // NaN is canonical in a Scalar
    if (x == y || (equalZeros && isFloat(a.dtype) && x.asFloat() == y.asFloat())) continue;
    return false;
  }
  return true;
}

}  // namespace svod
