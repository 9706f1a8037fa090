// What the steps of a plan compute, by the names of the graph: read from plan.json, which docs/plan.md describes.
#pragma once
#include <string>
#include <vector>

#include "support/result.h"

namespace svod {

enum class ProfileBy : uint8_t { Kernel, Value, Layer };

/// By step: with Value the values that it writes, as "h" or "q, k"; with Layer the path of the first one, what stands
/// before its last / or its last dot: "/encoder/layer.0/attention" of "/encoder/layer.0/attention/MatMul_output_0". A
/// value without a path is its own layer. Nothing with Kernel. `plan` is a folder or a pack. Errors: Io, BadPlan.
Result<std::vector<std::string>> stepNames(const std::string& plan, ProfileBy by);

}  // namespace svod
