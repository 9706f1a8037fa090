// Models from the text of a graph file, and what they are run with.
#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "common/model_text.h"
#include "common/random_graph.h"
#include "e2e/harness.h"
#include "ir/evaluate.h"

namespace svod {

/// Random inputs at the shapes they have when every variable is `n`. Where there are variables, states start as they
/// are declared.
inline ModelBindings bindingsOf(const Model& model, int64_t n) {
  RandomOptions moderate;
  moderate.contract = true;
  ModelBindings bindings = randomBindings(model, 7, moderate);
  for (UOp v : model.variables) bindings.variables[std::string(v.argAs<VarArg>().name)] = n;
  for (size_t i = 0; i < bindings.ports.size() && !model.variables.empty(); ++i) {
    UOp buffer = model.ports[i].buffer;
    if (model.ports[i].kind == PortKind::State) bindings.ports[i] = {};
    if (model.ports[i].kind != PortKind::Input || !buffer.hasSymbolicShape()) continue;
    std::vector<int64_t> dims;
    for (UOp d : buffer.shape())
      dims.push_back(
          evaluate(d, [&](UOp leaf) -> std::optional<Scalar> { return Scalar::ofInt(leaf.dtype(), n); })->asInt());
    bindings.ports[i] = randomTensor(buffer.dtype(), dims, i + 1, false);
  }
  return bindings;
}

inline bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

inline void checkEqual(const Model& model, const std::vector<HostTensor>& expected,
                       const std::vector<HostTensor>& actual) {
  for (size_t i = 0; i < model.ports.size(); ++i)
    if (isResult(model.ports[i])) {
      INFO(model.ports[i].name);
      CHECK(difference(expected[i], actual[i], 1e-4) == "");
    }
}

/// The plan of a graph file computes what the interpreter does, every variable being `n`; all memory lies between pages
/// that fault.
inline void checkBetweenGuards(const std::string& text, int64_t n, RunOptions options = {}) {
  INFO(text << "n = " << n);
  Model model = modelOf(text);
  const ModelBindings bindings = bindingsOf(model, n);
  auto expected = interpret(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  for (Watch watch : {Watch::Start, Watch::End}) {
    options.execute.watch = watch;
    auto actual = runPlan(model, bindings, options);
    if (!actual) FAIL(toText(actual.error()));
    checkEqual(model, *expected, *actual);
  }
}

}  // namespace svod
