// Sizes, counts and offsets of tensor graphs as numbers.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "interp/interp.h"

namespace svod {

/// What the variables and the counters of running loops are worth. Errors: VariableBounds for what has no value.
struct SizeValues {
  const ModelBindings& bindings;
  std::map<uint32_t, int64_t> counters;  // by id of the ranges of loops that are running

  Result<int64_t> number(UOp dim) const;
  Result<std::vector<int64_t>> numbers(std::span<const UOp> dims) const;
};

}  // namespace svod
