// Loads and stores that leave their buffer.
#pragma once
#include "ir/verify.h"

namespace svod {

/// The error of a node that breaks a rule of a stage: names the rule and shows the node as `.uop` line.
tl::unexpected<Error> violation(UOp node, Stage stage, std::string_view rule, const std::string& wrong);

/// Intervals show most addresses of a kernel to be inside. The others are evaluated at all values of their counters and
/// variables when these have at most `enumerate` combinations, else where each is the first or the last of its values,
/// which is where sizes of 0 and ends of buffers are. What is reported happens in a run; what is not may still happen.
/// `enumerate` 0: only the cheap part, fit for every compile.
Status checkAccesses(UOp root, Stage stage, int64_t enumerate);

}  // namespace svod
