// Bisection over passes: which one makes a plan wrong.
#pragma once
#include "driver/compile.h"

namespace svod {

/// Compiles again with the first few of all optional passes, over the graph and then over kernels, and adds a note to
/// `error`, that of verifyPlan: the pass that turns a right result into a wrong one, or the first one behind it, which
/// may be one that always runs, that the interpreter sees change values (first_fault.h). Where the result is wrong
/// without any optional pass, the first of those that always run.
Error withGuiltyPass(Error error, Model& model, CompileOptions options);

}  // namespace svod
