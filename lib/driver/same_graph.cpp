#include "driver/same_graph.h"

#include <utility>

#include "driver/schedule_interp.h"
#include "interp/same_values.h"
#include "ir/evaluate.h"

namespace svod {

namespace {

std::vector<int64_t> dimsOf(const ModelPort& port, const VariableValues& variables) {
  std::vector<int64_t> dims;
  for (UOp dim : port.buffer.shape()) {
    const auto leaf = [&](UOp var) -> std::optional<Scalar> {
      const auto at = variables.find(var.argAs<VarArg>().name);
      return Scalar::ofInt(var.dtype(), at == variables.end() ? var.argAs<VarArg>().min : at->second);
    };
    dims.push_back(evaluate(dim, leaf)->asInt());
  }
  return dims;
}

Status checkPorts(const Model& model, std::span<const HostTensor> before, std::span<const HostTensor> after) {
  for (size_t i = 0; i < before.size(); ++i) {
    const ModelPort& port = model.ports[i];
    const bool isState = port.kind == PortKind::State && !port.buffer.hasSymbolicShape();
    if (port.kind == PortKind::Output || isState) SVOD_CHECK(checkClose(port.name, before[i], after[i]));
  }
  return {};
}

Result<std::vector<HostTensor>> valuesOf(Model& model, UOp root, const GraphJob& job, const ModelBindings& bindings) {
  if (job.schedule) return interpretSchedule(model, *job.schedule, bindings);
  const UOp sink = std::exchange(model.sink, root);
  Result<std::vector<HostTensor>> values = interpret(model, bindings);
  model.sink = sink;
  return values;
}

}  // namespace

ModelBindings plainBindings(const Model& model, const VariableValues& variables) {
  std::mt19937 random(1);
  ModelBindings bindings{
      .ports = {}, .variables = variables, .functions = {}, .areSumsRoundedOnce = true, .areArbitrary = true};
  for (const ModelPort& port : model.ports) {
    const bool isInput = port.kind == PortKind::Input;
    bindings.ports.push_back(isInput ? plainValues(port.buffer.dtype(), dimsOf(port, variables), random)
                                     : HostTensor{});
  }
  return bindings;
}

Status checkSameGraph(Model& model, UOp root, const GraphJob& job, const VariableValues& variables) {
  const ModelBindings bindings = plainBindings(model, variables);
  SVOD_TRY(const std::vector<HostTensor> expected, interpret(model, bindings));
  SVOD_TRY(const std::vector<HostTensor> now, valuesOf(model, root, job, bindings));
  return checkPorts(model, expected, now);
}

}  // namespace svod
