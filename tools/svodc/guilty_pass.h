// svodc compile --verify: which pass makes a plan wrong.
#pragma once
#include "driver/compile.h"

namespace svod {

/// Compiles again with the first few of all optional passes, over the graph and then over kernels, and adds a note to
/// `error`, that of verifyPlan: the pass that turns a right result into a wrong one, or, where it is wrong without any
/// of them, the first pass of those that always run that changes the values (required_passes.h).
Error withGuiltyPass(Error error, Model& model, CompileOptions options);

}  // namespace svod
