// Does a graph of tensors, or the schedule made of it, compute what the model does?
#pragma once
#include "interp/interp.h"
#include "schedule/graph_passes.h"

namespace svod {

/// Random data for the inputs of `model`, whose variables have these values; weights and states have their own.
ModelBindings plainBindings(const Model& model, const VariableValues& variables);

/// The model in the interpreter against `root`, or against the schedule that `job` holds, on plainBindings(). Outputs
/// are compared, and states whose places do not depend on variables; floats may differ by what a few roundings make.
/// The model is the same afterwards. Errors: Mismatch, with the port and the element, and what the interpreter says.
Status checkSameGraph(Model& model, UOp root, const GraphJob& job, const VariableValues& variables);

}  // namespace svod
