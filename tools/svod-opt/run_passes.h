// Passes by name on one graph, and the code of what they leave.
#pragma once
#include "ir/graph.h"
#include "options.h"
#include "pass/pass.h"

namespace svod {

/// The rows of the tables of passes with these names, in this order, or with --all those from the stage of `root` on.
/// Errors: Usage, with the nearest name.
Result<std::vector<Pass>> passesOf(const OptToolOptions& options, UOp root);

/// The first stage in which the graph is legal, or the error of the last one. Tensor graphs have no passes by
/// themselves.
Result<Stage> stageOf(UOp root);

/// Whether the graph is one of this stage. Errors: Verify, and Usage where verifying alone does not tell.
Status checkStage(UOp root, Stage stage);

/// What the passes make of `root`, verified before the first and after each.
Result<UOp> runPasses(std::span<const Pass> passes, const OptToolOptions& options, Graph& graph, UOp root,
                      PassLog& log);

/// The code of a legalized kernel, as --emit says.
Result<std::string> emitted(const OptToolOptions& options, Graph& graph, UOp root);

}  // namespace svod
