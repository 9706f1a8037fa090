// The targets: what code is generated for. A target is a row and the functions it names; nothing else knows one by
// name.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "facts/caps.h"
#include "lower/legalize.h"
#include "machine/machine.h"
#include "pass/pass.h"
#include "plan/plan.h"
#include "support/result.h"

namespace svod {

struct Compilation;
struct CompiledKernel;
struct CompileOptions;

struct FunctionObject;

/// What becomes one file of code.
struct CodeParts {
  std::span<CompiledKernel* const> kernels;
  std::span<const FunctionObject> functions;  // of C files
};

struct Target {
  std::string_view name, what;
  /// The machine of a triple and the name of a processor, as flags give them; empty ones are this machine.
  Result<Machine> (*machine)(std::string_view triple, std::string_view processor);
  /// What may be done with kernels, and which ops the code has, of a machine that `machine` returns.
  Caps (*caps)(const Machine& machine, Numerics numerics);
  LegalizeOptions (*legal)(const Machine& machine, Numerics numerics);
  /// From the kernel as scheduled to what `emitKernel` takes.
  std::span<const Pass> (*passes)();
  /// Code of one kernel; called for several kernels at once.
  Status (*emitKernel)(CompiledKernel& kernel, const CompileOptions& options);
  /// Joins code into files of the plan, the first of which has the kernels; none where there is no code. Kernels with
  /// a grid know their images then.
  Status (*finish)(Compilation& compilation, const CodeParts& parts, const CompileOptions& options);
  /// What runs it, as DeviceDesc::kind. Kernels of any kind but cpu have a grid, and run on devices besides the host.
  std::string_view deviceKind;
  std::string_view usualProcessor = {};  // that `machine` takes for an empty name, where plans depend on it
};

/// The machine as code with these numerics uses it: NEON of ARMv7 takes subnormal floats for 0, which only Fast allows.
Machine machineFor(Machine machine, Numerics numerics);

std::span<const Target> targets();
/// The tables that a graph and its kernels go through, in this order.
std::array<std::span<const Pass>, 2> passTables(const Target& target);
/// Errors: Usage, with the names there are.
Result<const Target*> targetByName(std::string_view name);

}  // namespace svod
