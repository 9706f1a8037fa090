#include "onnx/ops/conv_bytes.h"

#include "onnx/ops/common.h"

namespace svod {

namespace {

constexpr int64_t kTop = 128;  // what the highest bit of a byte is worth

// The same byte of the other sign: kTop more, or less.
Tensor withOtherSign(Tensor bytes) {
  const bool isSignedByte = bytes.dtype() == DType::I8;
  Tensor top = bytes.builder()->constant(Scalar::ofInt(bytes.dtype(), isSignedByte ? -kTop : kTop));
  return bitcast(elementwise(Op::Xor, {bytes, top}), isSignedByte ? DType::U8 : DType::I8);
}

}  // namespace

std::optional<ShiftedBytes> shiftedBytes(const Bytes& x, const Bytes& w) {
  if (!x.elements || !w.elements || !x.zero || !w.zero) return std::nullopt;
  ShiftedBytes shifted{x.elements, w.elements, *x.zero};
  if (isSigned(x.elements.dtype())) shifted.x = withOtherSign(x.elements), shifted.zero += kTop;
  const bool isSignedWeight = isSigned(w.elements.dtype());
  if (*w.zero != (isSignedWeight ? 0 : kTop)) return std::nullopt;
  if (!isSignedWeight) shifted.w = withOtherSign(w.elements);
  return shifted;
}

Tensor correctionOf(const ShiftedBytes& bytes) {
  Tensor sums = reduce(Op::Add, cast(bytes.w, DType::I32), axesFrom(1, bytes.w.rank()), false);
  return sums * -bytes.zero;
}

Bytes bytesOf(const OnnxNode& n, int i, int zero) {
  const DType dtype = n.arg(i).dtype();
  return dtype == DType::I8 || dtype == DType::U8 ? Bytes{n.arg(i), oneNumber(n, zero)} : Bytes();
}

Quantized quantizedArg(const OnnxNode& n, int i, int zero, int axis) {
  return {withoutZero(n, n.arg(i), zero, axis), bytesOf(n, i, zero)};
}

std::optional<int64_t> oneNumber(const OnnxNode& n, int i) {
  if (!n.has(i)) return 0;
  const std::optional<HostTensor> value = n.isKnown(i) ? n.constant(i) : std::nullopt;
  if (!value || value->numel() == 0) return std::nullopt;
  const int64_t first = value->at(0).asInt();
  for (int64_t k = 1; k < value->numel(); ++k)
    if (value->at(k).asInt() != first) return std::nullopt;
  return first;
}

}  // namespace svod
