// Cutting a graph that fails a test down to the few nodes that matter.
#pragma once
#include <functional>
#include <string>

#include "interp/interp.h"

namespace svod {

/// Says what is wrong with a model under these bindings; "" when nothing is.
using ModelCheck = std::function<std::string(Model& model, const ModelBindings& bindings)>;

/// Keeps one output, the first value in order of evaluation for which the check fails, and makes values it
/// depends on inputs (with the contents the interpreter computes) as long as it fails. Changes both. Returns
/// what is wrong then.
std::string reduceGraph(Model& model, ModelBindings& bindings, const ModelCheck& check);

}  // namespace svod
