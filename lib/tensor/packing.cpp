#include "tensor/packing.h"

#include "ir/shape.h"
#include "symbolic/symbolic.h"

namespace svod {

UOp codeOf(Graph& g, UOp element) { return g.cast(g.bitcast(element, unsignedOf(element.dtype())), DType::U8); }

UOp elementOf(Graph& g, UOp code, DType dtype) { return g.bitcast(g.cast(code, unsignedOf(dtype)), dtype); }

namespace {

// The value with one more axis, of the elements that share a byte.
UOp grouped(Graph& g, UOp value, int64_t each) {
  std::vector<UOp> dims(value.shape().begin(), value.shape().end());
  UOp perByte = g.index(each);
  if (!dims.empty() && dims.back().isConst() && dims.back().constInt() % each == 0) {
    dims.back() = g.index(dims.back().constInt() / each);
  } else {
    UOp count = simplify(g, numel(g, dims)), zero = g.index(0);
    UOp bytes = simplify(g, g.alu(Op::Floordiv, {g.alu(Op::Add, {count, g.index(each - 1)}), perByte}));
    // The dims bound their product more tightly than what it is multiplied out to.
    if (const int64_t most = (value.maxNumel() + each - 1) / each; bytes.bounds().max > most)
      bytes = g.alu(Op::Min, {bytes, g.index(most)});
    UOp missing = simplify(g, g.alu(Op::Sub, {g.alu(Op::Mul, {bytes, perByte}), count}));
    UOp fill = g.constant(Scalar::of(value.dtype(), 0));
    value = g.pad(g.reshape(value, {&count, 1}), fill, {&zero, 1}, {&missing, 1});
    dims = {bytes};
  }
  dims.push_back(perByte);
  return g.reshape(value, dims);
}

}  // namespace

UOp packedBytes(Graph& g, UOp value) {
  UOp codes = grouped(g, codeOf(g, value), elementsPerByte(value.dtype()));
  std::vector<UOp> ones(codes.rank(), g.index(1));
  ones.back() = codes.shape().back();
  UOp position = g.reshape(g.make(Op::Iota, DType::U8, {codes.shape().back()}), ones);
  UOp shift = g.alu(Op::Mul, {position, g.constant(Scalar::ofInt(DType::U8, info(value.dtype()).bits))});
  UOp moved = g.alu(Op::Shl, {codes, g.expand(shift, codes.shape())});
  auto last = static_cast<int32_t>(codes.rank()) - 1;
  return g.reduce(Op::Add, moved, {&last, 1});
}

}  // namespace svod
