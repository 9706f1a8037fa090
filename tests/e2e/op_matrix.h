// One model per layout with every op of the tensor stage over every dtype it takes, each case one output.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "interp/interp.h"

namespace svod {

struct MatrixCase {
  std::string name;  // op and dtype, "add.f32"
  UOp value;
  std::vector<UOp> operands;  // transcendentals only: what the exact result is computed from
  size_t port = 0;
  bool eitherZero = false;  // max and min may return a zero of either sign
};

struct OpMatrix {
  Model model;
  std::vector<MatrixCase> cases;
  ModelBindings bindings;
};

/// How operands lie in memory: contiguous, permuted, broadcast, padded, ..
std::span<const std::string_view> matrixLayouts();

/// All cases over `dtypes` in one layout for which `take(number)` holds; a case has the same number in every layout.
/// Ops are found in the op table, dtypes by the verifier's rules. Half of the data are special values.
OpMatrix opMatrix(std::span<const DType> dtypes, size_t layout, const std::function<bool(size_t number)>& take);

}  // namespace svod
