// Weights of a few bits in blocks, each with a scale and a zero point.
#include "onnx/ops/nbits.h"

#include "onnx/ops/common.h"

namespace svod {

Tensor unpackedBits(const OnnxNode& n, Tensor bytes, int64_t bits) {
  if (bits == 8) return bytes;
  if (bits == 2 || bits == 4) return n.call("bitcast", {bytes}, {{"dtype", bits == 2 ? DType::U2 : DType::U4}});
  if (bits < 2 || bits > 8) return n.unsupported("weights of " + std::to_string(bits) + " bits", "2 to 8 bits");
  const bool isFixed = bytes && bytes.dim(-1).isConst() && bytes.dim(-1).constant() > 0;
  if (!n.require(isFixed, "rows of weights have a fixed size, above 0")) return {};
  const int64_t size = bytes.dim(-1).constant();
  Tensor bit = cast(n.b.iota(n.b.dim(size * 8 / bits)), DType::I32) * bits, at = floordiv(bit, 8);
  Tensor low = cast(take(bytes, bytes.rank() - 1, at), DType::I32);
  Tensor high = cast(take(bytes, bytes.rank() - 1, min(at + 1, size - 1)), DType::I32);
  Tensor shifted = n.call("shr", {low + high * 256, floormod(bit, 8)});
  return cast(both(shifted, (int64_t{1} << bits) - 1), DType::U8);
}

namespace {

// Zero points of blocks [.., blocks], packed like the weights or numbers: as floats.
Tensor zeroPoints(OnnxNode& n, Tensor zero, Dim blocks, int64_t bits, DType dtype) {
  if (zero.dtype() != DType::U8) return cast(zero, dtype);
  Tensor all = unpackedBits(n, zero, bits);
  return all ? cast(narrow(all, -1, n.b.dim(0), blocks), dtype) : Tensor();
}

}  // namespace

// a [.., K] times b transposed, where b is [N, blocks, block * bits / 8] bytes.
Results onnxMatMulNBits(OnnxNode& n) {
  const int64_t k = n.integer("K"), columns = n.integer("N"), block = n.integer("block_size"), bits = n.integer("bits");
  Tensor a = n.arg(0), b = n.arg(1);
  if (!n.require(k > 0 && columns > 0 && block > 0, "K, N and block_size are positive")) return Tensor();
  if (n.integer("weight_prepacked") != 0) return n.unsupported("prepacked weights", "weight_prepacked = 0");
  const int64_t blocks = (k + block - 1) / block, bytes = block * bits / 8;
  Dims packed = n.b.dims({columns, blocks, bytes}), perBlock = n.b.dims({columns, blocks});
  auto hasSize = [&](Tensor x, int64_t count) {
    Dim size = n.b.dim(1);
    for (const Dim& d : x.dims()) size = size * d;
    return size.is(count);
  };
  if (!n.require(b.dtype() == DType::U8 && hasSize(b, columns * blocks * bytes),
                 "b is u8 [N, blocks, bytes of a block]") ||
      !n.require(hasSize(n.arg(2), columns * blocks), "scales are [N, blocks]"))
    return Tensor();
  const DType dtype = a.dtype(), wide = sumDType(dtype);
  Tensor elements = unpackedBits(n, reshape(b, packed), bits);
  if (!elements) return Tensor();
  Tensor zero = cast(n.b.literal(static_cast<double>(int64_t{1} << (bits - 1))), wide);
  if (n.has(3)) {
    Tensor listed = n.arg(3);
    if (listed.dtype() == DType::U8) listed = reshape(listed, n.b.dims({columns, (blocks * bits + 7) / 8}));
    zero = reshape(zeroPoints(n, listed, n.b.dim(blocks), bits, wide), perBlock);
  }
  auto perRow = [&](Tensor x) { return x.rank() == 2 ? unsqueeze(x, -1) : x; };
  Tensor weights = (cast(elements, wide) - perRow(zero)) * unsqueeze(reshape(cast(n.arg(2), wide), perBlock), -1);
  if (!weights) return Tensor();
  weights = narrow(reshape(weights, n.b.dims({columns, blocks * block})), 1, n.b.dim(0), n.b.dim(k));
  Tensor y = n.call("matmul", {a, n.call("transpose", {weights})}, {{"dtype", wide}});
  if (n.has(5)) y = y + cast(n.arg(5), wide);
  return cast(y, dtype);
}

// Rows of quantized data, with the scales and zero points of their blocks.
Results onnxGatherBlockQuantized(OnnxNode& n) {
  Tensor data = n.arg(0), indices = n.arg(1), scales = n.arg(2);
  const bool isBytes = data.dtype() == DType::U8;
  const int64_t bits = isBytes ? n.integer("bits") : 4, block = n.integer("block_size");
  if (bits != 2 && bits != 4 && bits != 8)
    return n.unsupported("data of " + std::to_string(bits) + " bits", "2, 4 or 8 bits");
  const int gathered = n.axis(n.integer("gather_axis"), data.rank()),
            axis = n.axis(n.integer("quantize_axis"), data.rank());
  if (gathered < 0 || axis < 0 ||
      !n.require(gathered != axis && block > 0, "the axes differ, and blocks have elements"))
    return Tensor();
  auto rowsOf = [&](Tensor x) { return n.call("gather", {x, indices}, {{"axis", gathered}}); };
  Tensor rows = rowsOf(data), zero = n.has(3) ? rowsOf(n.arg(3)) : Tensor();
  if (isBytes) rows = unpackedBits(n, rows, bits);
  Tensor scale = rowsOf(scales);
  if (!rows || !scale) return Tensor();
  const int at = axis < gathered ? axis : axis - 1 + indices.rank();
  const DType dtype = scales.dtype(), wide = sumDType(dtype);
  Tensor distance = cast(rows, wide), blockOf = floordiv(n.b.iota(rows.dim(at)), block);
  if (zero && isBytes) zero = narrow(unpackedBits(n, zero, bits), -1, n.b.dim(0), scale.dim(-1));
  if (zero) distance = distance - take(cast(zero, wide), at, blockOf);
  if (!zero && isBytes) distance = distance - static_cast<double>(int64_t{1} << (bits - 1));
  return cast(distance * take(cast(scale, wide), at, blockOf), dtype);
}

}  // namespace svod
