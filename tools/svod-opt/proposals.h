// The opts that make sense for a kernel, as text.
#pragma once
#include "ir/graph.h"
#include "options.h"

namespace svod {

/// One opt a line, for the kernel after the opts of --opts, with names of loops; behind one that does not apply stands
/// `; ` and why. Errors: Usage for a graph that is no kernel, BadOpt for an opt of --opts that does not apply.
Result<std::string> proposalsFor(const OptToolOptions& options, Graph& graph, UOp root);

}  // namespace svod
