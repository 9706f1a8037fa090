// What a kernel looks like from its strides: its class.
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace svod {

class KernelFacts;

/// A Reduce that adds up products.
bool sumsProducts(UOp node);

/// What a kernel looks like from its strides.
enum class Pattern : uint8_t {
  Scalar,
  FullReduce,
  Attention,
  Gemm,
  Conv,
  Gemv,
  RowReduce,
  ColumnReduce,
  Gather,
  Transpose,
  Streaming
};
struct PatternInfo {
  Pattern pattern;
  std::string_view name, what;
};
const PatternInfo& info(Pattern pattern);
Pattern patternOf(UOp sink);
Pattern patternOf(const KernelFacts& kernel);

}  // namespace svod
