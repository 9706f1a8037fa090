#include "tensor/small_transforms.h"

#include <cmath>

namespace svod {

namespace {

using Values = std::vector<UOp>;

// sum of factor * value over a row of the matrix.
UOp combined(Graph& g, const SmallMatrix& m, int row, std::span<const UOp> values) {
  UOp sum;
  for (int column = 0; column < m.columns; ++column) {
    const double factor = m(row, column), size = std::abs(factor);
    if (factor == 0) continue;
    UOp value = values[static_cast<size_t>(column)];
    UOp term = size == 1 ? value : g.alu(Op::Mul, {value, g.constant(Scalar::ofFloat(DType::F32, size))});
    if (!sum)
      sum = factor < 0 ? g.alu(Op::Neg, {term}) : term;
    else
      sum = g.alu(factor < 0 ? Op::Sub : Op::Add, {sum, term});
  }
  return sum;
}

std::vector<UOp> applied(Graph& g, const SmallMatrix& shared, const SmallMatrix& last, std::span<const UOp> values) {
  Values middle, result;
  for (int row = 0; row < shared.rows; ++row) middle.push_back(combined(g, shared, row, values));
  for (int row = 0; row < last.rows; ++row) result.push_back(combined(g, last, row, middle));
  return result;
}

}  // namespace

std::vector<std::vector<UOp>> bothSides(Graph& g, const SmallMatrix& shared, const SmallMatrix& last,
                                        const std::vector<Values>& x) {
  std::vector<Values> turned(x.size()), result(static_cast<size_t>(last.rows));
  for (size_t column = 0; column < x.size(); ++column) {
    Values down;
    for (const Values& row : x) down.push_back(row[column]);
    turned[column] = applied(g, shared, last, down);
  }
  for (size_t row = 0; row < result.size(); ++row) {
    Values along;
    for (const Values& column : turned) along.push_back(column[row]);
    result[row] = applied(g, shared, last, along);
  }
  return result;
}

UOp selected(Graph& g, const std::vector<Values>& values, UOp i, UOp j) {
  auto pick = [&](UOp counter, const Values& list) {
    UOp result = list.back();
    for (size_t k = list.size() - 1; k-- > 0;)
      result = g.where(g.alu(Op::Eq, {counter, g.index(static_cast<int64_t>(k))}), list[k], result);
    return result;
  };
  Values rows;
  for (const Values& row : values) rows.push_back(pick(j, row));
  return pick(i, rows);
}

}  // namespace svod
