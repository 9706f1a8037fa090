// svodc compile --verify: which of the passes that always run makes a plan wrong.
#pragma once
#include <string>

#include "driver/compile.h"

namespace svod {

/// The values before and after each pass without which there is no plan, over the graph and then over every kernel, all
/// in the interpreter and on the same inputs; no optional pass runs. What is said of the first that changes them, or
/// that none does, which leaves the code of the target and the plan. Empty where the interpreter gives no answer.
std::string faultOfRequiredPasses(Model& model, CompileOptions options);

}  // namespace svod
