// Passes over a graph of tensors, from its text to the text of what they leave.
#pragma once
#include "options.h"
#include "pass/pass.h"

namespace svod {

/// Whether the passes that are asked for, or the graph where none is named, are of the tables over a graph of tensors.
bool isOverGraph(const OptToolOptions& options, UOp root);

/// The graph, or the schedule from make-kernels on, and the decisions that were made, as comments. `text` is that of a
/// model (ir/model_text.h); its weights get random elements. Errors: Usage, where a pass is named before the one it
/// needs; Mismatch with --check; what the passes say.
Result<std::string> runOverGraph(const OptToolOptions& options, std::string_view text, PassLog& log);

}  // namespace svod
