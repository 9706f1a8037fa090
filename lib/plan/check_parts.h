// What the parts of `check` share.
#pragma once
#include <string>

#include "plan/plan.h"

namespace svod {

inline tl::unexpected<Error> bad(const std::string& where, const std::string& what) {
  return fail(Diag::BadPlan, where + ": " + what, "compile the graph again");
}
inline std::string at(const char* list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

/// Ids, arguments and expressions of the steps, and which loops enclose which. Buffers, kernels and variables must
/// have been checked.
Status checkSteps(const Plan& plan);

}  // namespace svod
