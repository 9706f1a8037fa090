// Time for svodc tune.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "support/result.h"

namespace svod {

/// Seconds of "90", "90s", "10m" or "1.5h". Errors: Usage.
Result<double> parseSeconds(const std::string& text);
/// "1:02:03", "10:05".
std::string clockText(double seconds);

/// What the first of the kernels that are left may take of the time that is left: by their weights.
double shareOfFirst(double seconds, std::span<const double> weights);

}  // namespace svod
