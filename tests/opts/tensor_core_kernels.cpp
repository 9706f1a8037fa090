#include "opts/tensor_core_kernels.h"

#include "opts/kernel_parts.h"

namespace svod {

namespace {

struct ProductBuilder : Builder {
  ProductBuilder(Graph& graph, const TensorCore& core) : Builder(graph), core(core) {}

  const TensorCore& core;

  UOp factor(uint32_t slot, std::vector<int64_t> dims, std::vector<UOp> where) {
    return g.load(at(slot, core.in, std::move(dims), std::move(where)));
  }
  UOp wide(UOp x) { return g.cast(x, core.out); }
  UOp product(UOp x, UOp y) { return mul(wide(x), wide(y)); }
  UOp sum(UOp x, UOp y, std::vector<UOp> ranges) { return reduce(Op::Add, product(x, y), std::move(ranges)); }
  UOp number(double value) { return g.constant(Scalar::of(core.out, value)); }
  UOp result(std::vector<int64_t> dims, std::vector<UOp> where, UOp value) {
    return sink({end(store(at(0, core.out, std::move(dims), where), value), where)});
  }
};

UOp buildColumns(Graph& g, const Sizes& s, const TensorCore& core) {  // b is read along its columns, and out is, too
  ProductBuilder b(g, core);
  UOp n = b.loop(s.n), m = b.loop(s.m), k = b.loop(s.k, AxisType::Reduce);
  return b.result({s.n, s.m}, {n, m}, b.sum(b.factor(2, {s.n, s.k}, {n, k}), b.factor(1, {s.k, s.m}, {k, m}), {k}));
}

UOp buildSmallProducts(Graph& g, const Sizes& s, const TensorCore& core) {  // products in the dtype of the factors
  ProductBuilder b(g, core);
  UOp m = b.loop(s.m), n = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp product = b.mul(b.factor(1, {s.m, s.k}, {m, k}), b.factor(2, {s.k, s.n}, {k, n}));
  return b.result({s.m, s.n}, {m, n}, b.reduce(Op::Add, b.wide(product), {k}));
}

UOp buildBatches(Graph& g, const Sizes& s,
                 const TensorCore& core) {  // 2 products, bias per column, no negative results
  ProductBuilder b(g, core);
  UOp batch = b.loop(2), m = b.loop(s.m), n = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp sum = b.sum(b.factor(1, {2, s.m, s.k}, {batch, m, k}), b.factor(2, {2, s.k, s.n}, {batch, k, n}), {k});
  UOp bias = g.load(b.at(3, core.out, {s.n}, {n}));
  return b.result({2, s.m, s.n}, {batch, m, n}, g.alu(Op::Max, {b.add(sum, bias), b.number(0)}));
}

UOp buildTwoSums(Graph& g, const Sizes& s, const TensorCore& core) {  // products of one a with two b over one loop
  ProductBuilder b(g, core);
  UOp m = b.loop(s.m), n = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp a = b.factor(1, {s.m, s.k}, {m, k});
  UOp left = b.sum(a, b.factor(2, {s.k, s.n}, {k, n}), {k}), right = b.sum(b.factor(3, {s.k, s.n}, {k, n}), a, {k});
  return b.result({s.m, s.n}, {m, n}, b.sub(left, right));
}

UOp buildTaps(Graph& g, const Sizes& s,
              const TensorCore& core) {  // filters m, positions n, channels k and 3 taps, padded
  constexpr int64_t kTaps = 3;
  ProductBuilder b(g, core);
  UOp m = b.loop(s.m), n = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce), tap = b.loop(kTaps, AxisType::Reduce);
  UOp at = b.sub(b.add(n, tap), b.i(1)), inside = b.both(b.lt(b.i(-1), at), b.lt(at, b.i(s.n)));
  UOp x = g.load(b.at(1, core.in, {s.k, s.n}, {k, at}), g.constant(Scalar::of(core.in, 0)), inside);
  return b.result({s.m, s.n}, {m, n}, b.sum(x, b.factor(2, {s.m, s.k, kTaps}, {m, k, tap}), {k, tap}));
}

UOp buildScaled(Graph& g, const Sizes& s,
                const TensorCore& core) {  // a factor that is computed, and is not 0 where a is
  ProductBuilder b(g, core);
  UOp m = b.loop(s.m), n = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp a = b.factor(1, {s.m, s.k}, {m, k}), one = g.constant(Scalar::of(core.in, 1));
  UOp inverse = g.alu(Op::Recip, {g.alu(Op::Max, {a, one})});  // of padding that is loaded as 0: 1
  UOp rounded = core.in == DType::F32 ? g.alu(Op::Floor, {inverse}) : g.alu(Op::Ceil, {inverse});
  return b.result({s.m, s.n}, {m, n}, b.sum(g.alu(Op::Add, {rounded, one}), b.factor(2, {s.k, s.n}, {k, n}), {k}));
}

UOp buildGroupedRows(Graph& g, const Sizes& s, const TensorCore& core) {  // rows of a serve 16 rows of the result each
  ProductBuilder b(g, core);
  UOp m = b.loop(s.m), n = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp a = b.factor(1, {(s.m + 15) / 16, s.k}, {g.alu(Op::Floordiv, {m, b.i(16)}), k});
  return b.result({s.m, s.n}, {m, n}, b.sum(a, b.factor(2, {s.k, s.n}, {k, n}), {k}));
}

constexpr ProductKernel kProducts[] = {
    {"product", buildProduct, "0,1,2"},
    {"columns", buildColumns, "1,0,2"},
    {"small-products", buildSmallProducts, "0,1,2"},
    {"batches", buildBatches, "1,2,3"},
    {"two-sums", buildTwoSums, "0,1,2"},
    {"taps", buildTaps, "0,1,2"},
    {"scaled", buildScaled, "0,1,2"},
    {"grouped-rows", buildGroupedRows, "0,1,2"},
    {"ragged", buildRaggedProduct, "0,1,2"},
};

}  // namespace

UOp buildProduct(Graph& g, const Sizes& s, const TensorCore& core) {
  ProductBuilder b(g, core);
  UOp m = b.loop(s.m), n = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  return b.result({s.m, s.n}, {m, n}, b.sum(b.factor(1, {s.m, s.k}, {m, k}), b.factor(2, {s.k, s.n}, {k, n}), {k}));
}

UOp buildRaggedProduct(Graph& g, const Sizes& s, const TensorCore& core) {
  ProductBuilder b(g, core);
  UOp m = b.loop(g.variable("rows", 1, s.m)), n = b.loop(g.variable("columns", 1, s.n));
  UOp k = b.loop(g.variable("terms", 1, s.k), AxisType::Reduce);
  return b.result({s.m, s.n}, {m, n}, b.sum(b.factor(1, {s.m, s.k}, {m, k}), b.factor(2, {s.k, s.n}, {k, n}), {k}));
}

UOp buildTriangle(Graph& g, const Sizes& s, const TensorCore& core) {
  ProductBuilder b(g, core);
  UOp m = b.loop(s.m), n = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp product = b.product(b.factor(1, {s.m, s.k}, {m, k}), b.factor(2, {s.k, s.n}, {k, n}));
  return b.result({s.m, s.n}, {m, n}, b.reduce(Op::Add, g.where(b.lt(k, m), product, b.number(0)), {k}));
}

std::span<const ProductKernel> productKernels() { return kProducts; }

}  // namespace svod
