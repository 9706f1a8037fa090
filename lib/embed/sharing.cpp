#include "embed/sharing.h"

#include <algorithm>

namespace svod {

namespace {

// Work below which waking threads costs more than it saves: about 20 microseconds of one.
constexpr int64_t kLeastFlops = 320'000, kLeastBytes = 160'000;

std::vector<ExprRange> valuesOf(const Interface& made, const Launch& launch) {
  std::vector<ExprRange> values;
  for (const Expr& value : launch.values) values.push_back(*rangeOf(value, made.ranges));
  return values;
}

/// An estimate that cannot be told is a large one.
int64_t mostOf(const Expr& expr, std::span<const ExprRange> values) {
  const std::optional<ExprRange> range = rangeOf(expr, values);
  return range ? range->max : INT64_MAX;
}

}  // namespace

ExprRange tilesOf(const Plan& plan, const Interface& made, const Launch& launch) {
  return *rangeOf(plan.kernels[launch.kernel].tiles, valuesOf(made, launch));
}

bool isWorthSharing(const Plan& plan, const Interface& made, const Launch& launch) {
  const KernelDesc& kernel = plan.kernels[launch.kernel];
  const std::vector<ExprRange> values = valuesOf(made, launch);
  return tilesOf(plan, made, launch).max > 1 &&
         (mostOf(kernel.flops, values) >= kLeastFlops || mostOf(kernel.bytes, values) >= kLeastBytes);
}

}  // namespace svod
