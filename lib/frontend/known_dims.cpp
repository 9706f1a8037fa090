#include "frontend/known_dims.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ir/evaluate.h"

namespace svod {

namespace {

constexpr int64_t kMaxEnumeration = 1 << 12;
constexpr int kMaxDimSize = 1000;

// Values of a variable to try: all, or at most `count` of them at both ends and spread between.
std::vector<int64_t> samples(Interval bounds, int64_t count) {
  std::vector<int64_t> values;
  int64_t extent = bounds.max - bounds.min + 1, third = count / 3;
  if (extent <= count) {
    for (int64_t v = bounds.min; v <= bounds.max; ++v) values.push_back(v);
    return values;
  }
  for (int64_t i = 0; i < third; ++i) {
    values.push_back(bounds.min + i);
    values.push_back(bounds.max - i);
    values.push_back(bounds.min + extent / third * i);
  }
  return values;
}

// The nodes of a dim and of the counts of the counters in it; conditions of loops are left out.
std::vector<UOp> dimNodes(UOp dim) {
  std::vector<UOp> all{dim};
  for (size_t i = 0; i < all.size(); ++i) {
    UOp n = all[i];
    for (UOp s : n.op() == Op::Range ? n.src().first(1) : n.src())
      if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
  }
  return all;
}

// Whether a dim whose interval reaches below zero really does: tries values of its variables.
bool canBeNegative(UOp dim) {
  std::vector<UOp> variables;
  for (UOp n : dimNodes(dim)) {
    if (n.op() == Op::Var || n.op() == Op::Range) {
      variables.push_back(n);
    } else if (n.op() != Op::Const && (!isElementwise(n.op()) || !isInt(n.dtype()))) {
      return true;
    }
  }
  double perVariable = std::pow(static_cast<double>(kMaxEnumeration), 1.0 / std::max<double>(1, variables.size()));
  std::vector<std::vector<int64_t>> tries;
  size_t combinations = 1;
  for (UOp v : variables) {
    tries.push_back(samples(v.bounds(), std::max<int64_t>(3, static_cast<int64_t>(perVariable))));
    combinations *= tries.back().size();
    if (combinations > size_t{16} * kMaxEnumeration) return true;
  }
  std::vector<int64_t> values(variables.size());
  LeafValue leaf = [&](UOp v) -> std::optional<Scalar> {
    return Scalar::ofInt(DType::Index, values[std::find(variables.begin(), variables.end(), v) - variables.begin()]);
  };
  // A counter stays below its count, whatever that is.
  auto isReached = [&] {
    for (size_t i = 0; i < variables.size(); ++i)
      if (variables[i].op() == Op::Range && values[i] >= evaluate(variables[i].src(0), leaf)->asInt()) return false;
    return true;
  };
  for (size_t c = 0; c < combinations; ++c) {
    size_t rest = c;
    for (size_t i = 0; i < variables.size(); ++i) {
      values[i] = tries[i][rest % tries[i].size()];
      rest /= tries[i].size();
    }
    if (isReached() && evaluate(dim, leaf)->asInt() < 0) return true;
  }
  return false;
}

}  // namespace

bool KnownDims::mayBeNegative(UOp dim) {
  if (dim.bounds().min >= 0 || dim.isConst()) return dim.bounds().min < 0;
  auto [it, isNew] = isNegative_.try_emplace(dim.id(), false);
  if (isNew) it->second = canBeNegative(dim);
  return it->second;
}

// Nodes of the dim written as a tree, or more than kMaxDimSize.
int KnownDims::sizeOf(UOp dim) {
  if (dim.srcCount() == 0 || dim.op() == Op::Range) return 1;
  if (auto known = sizes_.find(dim.id()); known != sizes_.end()) return known->second;
  int size = 1;
  for (UOp s : dim.src()) size = std::min(size + sizeOf(s), kMaxDimSize + 1);
  sizes_[dim.id()] = size;
  return size;
}

bool KnownDims::isTooComplicated(UOp dim) { return sizeOf(dim) > kMaxDimSize; }

}  // namespace svod
