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

// What MatMulNBits is asked for: a [.., K] times b transposed, where b is [N, blocks, block * bits / 8] bytes.
struct NBits {
  int64_t k, columns, block, bits;
  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t bytes() const { return block * bits / 8; }
};

// b as floats [K, N]. `zero`: one number, or [N, blocks]; `scale`: [N, blocks].
Tensor dequantized(OnnxNode& n, const NBits& q, Tensor b, Tensor zero, Tensor scale) {
  const DType wide = scale.dtype();
  Tensor elements = unpackedBits(n, b, q.bits);
  if (!elements) return {};
  if (n.has(4)) {  // the block that each row of b belongs to
    auto ofRow = [&](Tensor x) { return x.rank() == 2 ? take(x, 1, wrapNegative(n.arg(4), x.dim(1))) : x; };
    elements = narrow(reshape(elements, n.b.dims({q.columns, q.blocks() * q.block})), 1, n.b.dim(0), n.b.dim(q.k));
    return n.call("transpose", {(cast(elements, wide) - ofRow(zero)) * ofRow(scale)});
  }
  auto perRow = [&](Tensor x) { return x.rank() == 2 ? unsqueeze(x, -1) : x; };
  Tensor weights = (cast(elements, wide) - perRow(zero)) * unsqueeze(scale, -1);
  weights = reshape(weights, n.b.dims({q.columns, q.blocks() * q.block}));
  return n.call("transpose", {narrow(weights, 1, n.b.dim(0), n.b.dim(q.k))});
}

// With accuracy level 4, each block of a is rounded to 127 steps on both sides of zero. The bytes of b stay as they are
// stored: of 4 bytes, first the lowest bits are multiplied, then those above, so that a lies in that order.
Tensor byteProducts(OnnxNode& n, const NBits& q, Tensor a, Tensor b, Tensor zero, Tensor scale) {
  const int64_t parts = 8 / q.bits, groups = q.bytes() / 4;
  const Dims rows = a.dims().slice(0, a.rank() - 1);
  const auto withRows = [&](std::initializer_list<int64_t> dims) { return rows + n.b.dims(dims); };
  if (const int64_t missing = q.blocks() * q.block - q.k; missing > 0) {
    const Dims none(std::vector<Dim>(static_cast<size_t>(rows.rank()), n.b.dim(0)));
    a = pad(a, none + n.b.dims({0}), none + n.b.dims({missing}), 0.0);
  }
  a = reshape(a, withRows({q.blocks(), q.block}));
  if (!a) return {};
  Tensor most = maximum(abs(a), a.rank() - 1);
  Tensor steps = n.call("round", {a * unsqueeze(where(gt(most, 0.0), 127.0 / most, 0.0), -1)});
  Tensor bytes = reshape(cast(steps, DType::I8), withRows({q.blocks(), groups, 4, parts}));
  if (!bytes) return {};
  std::vector<int> order = axesFrom(0, bytes.rank());
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  bytes = permute(bytes, order);
  if (parts > 1) bytes = contiguous(bytes);
  const int first = bytes.rank() - 3;  // of the axes of a block
  const std::vector<int> inBlock = axesFrom(first, bytes.rank());
  Tensor total = accumulate(Op::Add, cast(bytes, DType::I32), inBlock, false);
  Tensor words = reshape(b, n.b.dims({q.columns, q.blocks(), groups, 1, 4}));
  if (parts > 1) {
    Tensor shift = reshape(cast(n.b.iota(n.b.dim(parts)) * q.bits, DType::U8), n.b.dims({parts, 1}));
    words = both(n.call("shr", {words, shift}), (int64_t{1} << q.bits) - 1);
  }
  Tensor products = cast(unsqueeze(bytes, first - 1), DType::I32) * cast(words, DType::I32);
  std::vector<int> summed = inBlock;
  for (int& axis : summed) ++axis;
  Tensor sums = accumulate(Op::Add, products, summed, false) - unsqueeze(total, first - 1) * cast(zero, DType::I32);
  Tensor scaled = cast(sums, scale.dtype()) * (unsqueeze(most / 127.0, first - 1) * scale);
  return scaled ? sum(scaled, scaled.rank() - 1) : Tensor();
}

bool multipliesBytes(OnnxNode& n, const NBits& q, const Tensor& zero) {
  const bool hasParts = q.bits == 2 || q.bits == 4 || q.bits == 8;
  return n.integer("accuracy_level") == 4 && hasParts && q.bytes() % 4 == 0 && isInt(zero.dtype()) && !n.has(4);
}

}  // namespace

Results onnxMatMulNBits(OnnxNode& n) {
  const NBits q{n.integer("K"), n.integer("N"), n.integer("block_size"), n.integer("bits")};
  Tensor a = n.arg(0), b = n.arg(1);
  if (!n.require(q.k > 0 && q.columns > 0 && q.block > 0, "K, N and block_size are positive")) return Tensor();
  if (n.integer("weight_prepacked") != 0) return n.unsupported("prepacked weights", "weight_prepacked = 0");
  Dims perBlock = n.b.dims({q.columns, q.blocks()});
  auto hasSize = [&](Tensor x, int64_t count) {
    Dim size = n.b.dim(1);
    for (const Dim& d : x.dims()) size = size * d;
    return size.is(count);
  };
  if (!n.require(a.rank() > 0 && a.dim(-1).is(q.k), "a has K columns") ||
      !n.require(b.dtype() == DType::U8 && hasSize(b, q.columns * q.blocks() * q.bytes()),
                 "b is u8 [N, blocks, bytes of a block]") ||
      !n.require(hasSize(n.arg(2), q.columns * q.blocks()), "scales are [N, blocks]"))
    return Tensor();
  const DType dtype = a.dtype(), wide = sumDType(dtype);
  b = reshape(b, n.b.dims({q.columns, q.blocks(), q.bytes()}));
  Tensor scale = reshape(cast(n.arg(2), wide), perBlock);
  Tensor zero = cast(n.b.literal(static_cast<double>(int64_t{1} << (q.bits - 1))), DType::I32);
  if (n.has(3)) {
    zero = n.arg(3);
    if (zero.dtype() == DType::U8) {
      zero = unpackedBits(n, reshape(zero, n.b.dims({q.columns, (q.blocks() * q.bits + 7) / 8})), q.bits);
      if (zero) zero = cast(narrow(zero, -1, n.b.dim(0), n.b.dim(q.blocks())), DType::I32);
    }
    zero = reshape(zero, perBlock);
  }
  if (!zero || !scale) return Tensor();
  Tensor y = multipliesBytes(n, q, zero)
                 ? byteProducts(n, q, cast(a, wide), b, zero, scale)
                 : n.call("matmul", {a, dequantized(n, q, b, cast(zero, wide), scale)}, {{"dtype", wide}});
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
