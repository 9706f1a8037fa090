// Compiles a model, runs the plan through the runtime library and compares with the interpreter.
#pragma once
#include <string>
#include <vector>

#include "driver/compile.h"
#include "interp/interp.h"
#include "ir/model.h"

namespace svod {

struct RunOptions {
  int optLevel = 1;
  Numerics numerics = Numerics::Contract;
  MemoryMode memory = MemoryMode::Arena;
  std::string target = "cpu", cpu = "native";
  size_t threads = 1;
  uint64_t orderSeed = 0;
  int jobs = 1;
  int runs = 1;  // executions of one instance, states carried over
};

CompileOptions compileOptions(const RunOptions& options);

/// Contents of every output and state port after the runs, by Model::ports; inputs and weights are left as given.
Result<std::vector<HostTensor>> runPlan(Model& model, const ModelBindings& bindings, const RunOptions& options);

/// One compilation with the options of the first run, executed by a fresh instance for each of `runs`.
Result<std::vector<std::vector<HostTensor>>> runPlan(Model& model, const ModelBindings& bindings,
                                                     const std::vector<RunOptions>& runs);

/// "" when equal: bit for bit (any NaN equals any NaN, -0 equals +0) outside transcendentals, else within a relative
/// and absolute tolerance. Otherwise the first difference in words.
std::string difference(const HostTensor& expected, const HostTensor& actual, double tolerance);

}  // namespace svod
