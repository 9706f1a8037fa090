// What takes several primitives: products of matrices, rows, running folds, sorted rows, transposed copies; on sizes at
// which threads share work.
#pragma once
#include "common/random_pool.h"

namespace svod {

class RandomComposites : protected RandomPool {
 protected:
  using RandomPool::RandomPool;

  void composite() {
    using Step = void (RandomComposites::*)();
    constexpr Step kSteps[] = {&RandomComposites::matmul, &RandomComposites::matmul, &RandomComposites::rows,
                               &RandomComposites::rows,   &RandomComposites::turned, &RandomComposites::running,
                               &RandomComposites::sorted, &RandomComposites::stream};
    (this->*draw_.of(kSteps))();
  }

 private:
  DType oneOf(std::vector<DType> dtypes) { return draw_.of(dtypes); }
  int64_t oneOf(std::vector<int64_t> sizes) { return draw_.of(sizes); }

  /// An input of its own; sometimes what the pool has, in these dims.
  Value source(DType dtype, const UOps& dims) {
    if (draw_.chance(75)) return {port(PortKind::Input, dtype, dims)};
    return fit(converted(pick(), dtype), dims, false);
  }

  UOps dimsOf(int64_t rows, int64_t columns) {
    UOp first = variable_ && draw_.chance(20) ? symbolicSize() : g_.index(rows);
    return {first, g_.index(columns)};
  }

  Value folded(Op op, const Value& v, int32_t axis, bool keepsDim) {
    UOp result = g_.reduce(op, v.node, Axes{axis});
    UOps dims(v.node.shape().begin(), v.node.shape().end());
    if (keepsDim) {
      dims[static_cast<size_t>(axis)] = g_.index(1);
      result = g_.expand(g_.reshape(result, dims), v.node.shape());
    }
    const bool chooses = op == Op::Max || op == Op::Min;
    return {result, !isFloat(v.node.dtype()) || (chooses && v.exact), v.eitherZero || chooses};
  }

  /// a[m,k] b[k,n], either factor also transposed; small elements widened first, or not.
  void matmul() {
    const DType d = oneOf({DType::F16, DType::F16, DType::F16, DType::BF16, DType::BF16, DType::F32, DType::F32,
                           DType::F8E4M3, DType::F8E5M2, DType::I8, DType::U8, DType::I64, DType::F64});
    const int64_t m = oneOf({1, 2, 8, 16, 17, 31, 40, 64}), k = oneOf({0, 1, 8, 16, 16, 31, 32, 32, 48, 64}),
                  n = oneOf({1, 3, 8, 16, 17, 40, 41});
    UOps rows = dimsOf(m, k), columns{g_.index(k), g_.index(n)};
    auto factor = [&](UOps dims) {
      const bool isTurned = draw_.chance(35);
      if (isTurned) std::swap(dims[0], dims[1]);
      UOp x = source(d, dims).node;
      if (isTurned) x = g_.permute(x, Axes{1, 0});
      return x;
    };
    UOp a = factor(rows), b = factor(columns);
    const bool isSmall = isFloat(d) && info(d).bits <= 16, keeps = isSmall && isComputedIn(d) && draw_.chance(25);
    const DType wide = keeps ? d : isSmall ? DType::F32 : info(d).bits == 8 ? DType::I32 : d;
    const UOps all{rows[0], rows[1], columns[1]};
    a = g_.expand(g_.reshape(g_.cast(a, wide), UOps{rows[0], rows[1], g_.index(1)}), all);
    b = g_.expand(g_.reshape(g_.cast(b, wide), UOps{g_.index(1), rows[1], columns[1]}), all);
    Value y{g_.reduce(Op::Add, g_.alu(Op::Mul, {a, b}), Axes{1}), !isFloat(wide), true};
    add(y);
    if (draw_.chance(40)) add(y = {g_.alu(Op::Max, {y.node, constant(wide).node}), !isFloat(wide), true});
    if (draw_.chance(30)) add(converted(y, d));
  }

  /// What is folded along rows or columns, alone or with each element of it.
  void rows() {
    const DType d = oneOf({DType::F32, DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::U8});
    Value x = source(d, dimsOf(oneOf({0, 1, 3, 9, 33, 40}), oneOf({0, 1, 5, 31, 64, 65, 130, 260})));
    constexpr Op kOps[] = {Op::Add, Op::Add, Op::Max, Op::Min, Op::Mul};
    const Op op = draw_.of(kOps);
    const bool keepsDim = draw_.chance(50);
    Value y = folded(op, x, draw_.chance(65) ? 1 : 0, keepsDim);
    add(y);
    if (!keepsDim) return;
    y = {g_.alu(Op::Sub, {x.node, y.node}), !isFloat(d), true};
    add(y);
    if (draw_.chance(50)) add(folded(Op::Add, y, 1, false));
  }

  void turned() {
    const DType d = oneOf({DType::F32, DType::F16, DType::U8, DType::Bool, DType::I64, DType::F8E4M3});
    Value x = source(d, dimsOf(oneOf({31, 33, 40, 64}), oneOf({32, 37, 64, 65})));
    UOp y = g_.permute(x.node, Axes{1, 0});
    add(moved(x, g_.make(Op::Contiguous, d, {y})));
  }

  /// A fold of everything up to an element, in steps of doubled length.
  void running() {
    const DType d = oneOf({DType::F32, DType::I32, DType::I64, DType::F16});
    const int64_t size = oneOf({1, 2, 7, 16, 33});
    const UOps dims{g_.index(oneOf({1, 2, 5})), g_.index(size)};
    Value x = source(d, dims);
    const Op op = draw_.chance(60) ? Op::Add : Op::Max;
    for (int64_t step = 1; step < size; step *= 2) {
      UOp zero = g_.index(0), whole = g_.index(size - step);
      UOp before = g_.shrink(x.node, UOps{zero, zero}, UOps{dims[0], whole});
      UOp fill = op == Op::Add ? g_.constant(Scalar::ofInt(d, 0)) : constant(d).node;
      before = g_.pad(before, fill, UOps{zero, g_.index(step)}, UOps{zero, zero});
      x = {g_.alu(op, {x.node, before}), !isFloat(d) || (x.exact && op == Op::Max), true};
    }
    add(x);
  }

  /// Each element at the place that the number of elements before it says.
  void sorted() {
    const DType d = oneOf({DType::F32, DType::F16, DType::I32, DType::U8, DType::I64});
    const int64_t size = oneOf({1, 2, 9, 17, 40});
    const UOp n = g_.index(size), one = g_.index(1);
    Value x = source(d, UOps{n});
    if (!decisive(x)) x = {port(PortKind::Input, d, UOps{n})};
    UOp mine = g_.expand(g_.reshape(x.node, UOps{n, one}), UOps{n, n}),
        other = g_.expand(g_.reshape(x.node, UOps{one, n}), UOps{n, n}), at = g_.make(Op::Iota, DType::I32, {n}),
        i = g_.expand(g_.reshape(at, UOps{n, one}), UOps{n, n}),
        j = g_.expand(g_.reshape(at, UOps{one, n}), UOps{n, n});
    UOp isEqual = g_.alu(Op::And, {g_.alu(Op::Eq, {other, mine}), g_.alu(Op::Lt, {j, i})});
    UOp goesFirst = g_.alu(Op::Or, {g_.alu(Op::Lt, {other, mine}), isEqual});
    UOp places = g_.reduce(Op::Add, g_.cast(goesFirst, DType::I32), Axes{1});
    UOp empty = g_.expand(g_.reshape(g_.constant(Scalar::ofInt(d, 0)), UOps{one}), UOps{n});
    add({places});
    // Places that two elements share, as of NaN, are given to one of them, in order.
    add({g_.make(Op::Scatter, d, {empty, places, x.node}, ReduceArg{Op::Store, {}}), x.exact, x.eitherZero});
  }

  void stream() {
    const DType d = oneOf({DType::F32, DType::F16, DType::BF16, DType::U8, DType::F64});
    const UOps dims = draw_.chance(50) ? UOps{g_.index(oneOf({1023, 2048, 3001}))} : dimsOf(40, 72);
    Value a = source(d, dims), b = source(d, dims);
    add({g_.alu(Op::Add, {g_.alu(Op::Mul, {a.node, b.node}), a.node}), !isFloat(d), true});
  }
};

}  // namespace svod
