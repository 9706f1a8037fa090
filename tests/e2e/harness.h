// Compiles a model, runs the plan through the runtime library and compares with the interpreter.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "e2e/plan_run.h"
#include "ir/model.h"
#include "toolchain/c_compiler.h"

namespace svod {

struct RunOptions {
  int optLevel = 1;
  Numerics numerics = Numerics::Contract;
  MemoryMode memory = MemoryMode::Arena;
  std::string target = "cpu", cpu = "native";
  int jobs = 1;
  std::string opts;  // for every kernel, in place of the chosen ones
  std::vector<std::string> disabledPasses = {};
  DecisionRequests decisions = {};
  std::vector<Specialization> specializations = {};
  bool quickC = false;                     // the C compiler does not optimize: for thousands of kernels that run once
  std::vector<DeviceTarget> devices = {};  // of other targets
  ExecuteOptions execute;
};

/// Targets for tests that try them all: cpu and c. With SVOD_SANITIZED=1 in the environment only c, whose
/// kernels are then built with AddressSanitizer and UndefinedBehaviorSanitizer; the runtime of the former
/// must be preloaded.
std::span<const char* const> testTargets();

CompileOptions compileOptions(const RunOptions& options);
/// The program that builds plans of target c.
Tool cCompiler(const RunOptions& options);

/// Contents of every output and state port after the runs, by Model::ports; inputs and weights are left as
/// given.
Result<std::vector<HostTensor>> runPlan(Model& model, const ModelBindings& bindings, const RunOptions& options);

/// One compilation, executed by a fresh instance for each of `runs`.
Result<std::vector<std::vector<HostTensor>>> runPlan(Model& model, const ModelBindings& bindings,
                                                     const RunOptions& options,
                                                     const std::vector<ExecuteOptions>& runs);

/// "" when equal: bit for bit (any NaN equals any NaN, -0 equals +0) outside transcendentals, else within a
/// relative and absolute tolerance. Otherwise the first difference in words.
std::string difference(const HostTensor& expected, const HostTensor& actual, double tolerance);

}  // namespace svod
