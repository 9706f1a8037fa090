// A plan against the interpreter.
#pragma once
#include "driver/compile.h"
#include "ir/model.h"
#include "plan/variants.h"
#include "verify/c_calls.h"
#include "verify/sizes.h"

namespace svod {

/// The processors of the plan whose code runs here, in its order; the first of all where none does.
std::vector<Processor> processorsToVerify(const Plan& plan);

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};
/// The run that went wrong.
struct WrongRun {
  VariableValues variables;
  int number = 0;  // of its random inputs
  std::vector<NamedTensor> inputs, expected, actual;
};

/// Runs the plan, for each of those, in this process on random inputs, with each choice of sizes (verify_sizes.h), and
/// compares outputs and states with the interpreter: bit for bit integers and all that has one legal result
/// (certainty.h), other floats within 256 units of the last place of the largest value, or 16 times what the last bits
/// of the inputs change. Inputs take special values where all results have one legal result. Returns the sizes it ran
/// with. Errors: Mismatch, naming the value and the sizes; Unsupported for plans that cannot run here. `functions` are
/// those that the graph calls; `wrong` gets the run of a Mismatch.
Result<std::vector<SizeChoice>> verifyPlan(const Model& model, const Compilation& compilation, Numerics numerics,
                                           const CustomFunctions& functions = {}, WrongRun* wrong = nullptr);

}  // namespace svod
