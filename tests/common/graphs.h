// Small tensor graphs written by hand, for tests of the rooms between frontend and plan.
#pragma once
#include <initializer_list>
#include <vector>

#include "ir/model.h"

namespace svod {

/// Builds a Model port by port; `store` adds a result.
class GraphMaker {
 public:
  Model model;
  Graph& g = *model.graph;

  using Dims = std::vector<int64_t>;
  std::vector<UOp> dims(const Dims& values) {
    std::vector<UOp> list;
    for (int64_t v : values) list.push_back(g.index(v));
    return list;
  }
  UOp port(PortKind kind, const char* name, DType dtype, const Dims& shape) {
    UOp b = g.buffer(dtype, dims(shape), {static_cast<uint32_t>(model.ports.size()), Space::Global});
    model.ports.push_back({kind, name, b, {}});
    return b;
  }
  UOp input(const char* name, const Dims& shape, DType dtype = DType::F32) {
    return port(PortKind::Input, name, dtype, shape);
  }
  UOp state(const char* name, const Dims& shape, DType dtype = DType::F32) {
    return port(PortKind::State, name, dtype, shape);
  }
  UOp output(const char* name, UOp value) {
    UOp b = g.buffer(value.dtype(), value.shape(), {static_cast<uint32_t>(model.ports.size()), Space::Global});
    model.ports.push_back({PortKind::Output, name, b, {}});
    return store(b, value);
  }
  UOp store(UOp target, UOp value) {
    stores_.push_back(g.make(Op::Store, DType::Void, {target, value}));
    model.sink = g.make(Op::Sink, DType::Void, stores_);
    return stores_.back();
  }

  UOp f32(double v) { return g.constant(Scalar::ofFloat(DType::F32, v)); }
  UOp reshape(UOp x, const Dims& d) { return g.reshape(x, dims(d)); }
  UOp expand(UOp x, const Dims& d) { return g.expand(x, dims(d)); }
  UOp shrink(UOp x, const Dims& offset, const Dims& size) { return g.shrink(x, dims(offset), dims(size)); }
  UOp permute(UOp x, std::vector<int32_t> order) { return g.permute(x, order); }
  UOp reduce(Op op, UOp x, std::vector<int32_t> axes) { return g.reduce(op, x, axes); }
  /// [r,1] repeated to [r,c].
  UOp alongRows(UOp perRow, int64_t rows, int64_t columns) {
    return expand(reshape(perRow, {rows, 1}), {rows, columns});
  }
  UOp softmax(UOp x, int64_t rows, int64_t columns) {
    UOp m = reduce(Op::Max, x, {1});
    UOp e = g.alu(Op::Exp, {g.alu(Op::Sub, {x, alongRows(m, rows, columns)})});
    return g.alu(Op::Fdiv, {e, alongRows(reduce(Op::Add, e, {1}), rows, columns)});
  }
  UOp matmul(UOp a, UOp b, int64_t m, int64_t n, int64_t k) {
    UOp x = expand(reshape(a, {m, 1, k}), {m, n, k});
    UOp y = expand(reshape(permute(b, {1, 0}), {1, n, k}), {m, n, k});
    return reduce(Op::Add, g.alu(Op::Mul, {x, y}), {2});
  }

 private:
  std::vector<UOp> stores_;
};

}  // namespace svod
