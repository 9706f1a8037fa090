// What a compile is asked for.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "opts/opt.h"
#include "pass/pass.h"
#include "plan/memory_plan.h"
#include "support/decision.h"
#include "target/target.h"
#include "toolchain/clang.h"
#include "tuning/winners.h"

namespace svod {

class KernelCache;
class Linker;

/// Opts for the kernels whose name contains `kernel`; an empty list leaves them as they are.
struct KernelOpts {
  std::string kernel;
  std::vector<OptOp> opts;
  bool isFor(std::string_view name) const { return name.find(kernel) != name.npos; }
};

/// What a pass of a kernel, or the printing of its code, was given when it left an illegal graph or could not go on.
struct PassFailure {
  std::string kernel, pass;
  std::string before;  // .uop text
};

/// What the kernels of a device besides the host are compiled for.
struct DeviceTarget {
  std::string name;  // of the device, as the graph says it
  const Target* target = nullptr;
  Machine machine;
  std::vector<Machine> variants = {};  // further architectures, as CompileOptions::variants
  std::shared_ptr<const TargetTools> tools = {};
};

/// Leave to use more threads than the one that every compile has. Threads may ask at once.
struct ThreadTokens {
  virtual bool take() = 0;  // does not wait
  virtual void give() = 0;  // one that was taken

 protected:
  ~ThreadTokens() = default;
};

/// Sizes of a variable for which kernels are compiled besides those for all sizes.
struct Specialization {
  std::string variable;
  std::vector<Interval> sizes;
};

struct FoldLimits {
  /// By how many bytes folded values may make a plan larger; weights that nothing else reads leave it. 0: nothing is
  /// folded.
  int64_t bytes = 0;
  /// How many elements the interpreter may compute, intermediate ones included: it takes about 0.1 us for each.
  int64_t elements = int64_t{1} << 25;
};

/// Files of C that a graph takes functions from, by the name that it has for each.
using CFiles = std::map<std::string, CFile, std::less<>>;

struct CompileOptions {
  std::string name;                     // of the graph, recorded in the plan
  const Target* target = targets()[0];  // what to generate code for, and the machine, which is one of the target's
  Machine machine;
  std::shared_ptr<const TargetTools> tools;  // of `target`, by its flags
  std::vector<DeviceTarget> devices;         // those of another target; a plan has one target for each kind of device
  std::vector<Machine> variants;  // further processors or architectures; what is decided about the graph is for machine
  int optLevel = 1;               // 0: no opts; 1: those that choose() finds
  Numerics numerics = Numerics::Contract;
  FoldLimits fold;  // of values that no run changes
  MemoryMode memory = MemoryMode::Arena;
  int jobs = 1;                    // kernels compiled at once; never changes the result
  ThreadTokens* tokens = nullptr;  // asked for each of them but the first, where set
  std::vector<KernelOpts> opts;    // replayed in place of what choose() finds; every entry must match a kernel
  const TuningLog* tuning =
      nullptr;              // whose winners take the place of what choose() and graph passes find, if they apply
  size_t mostTuned = 3000;  // instructions that a winner of it may come to, by KernelJob::mostInstructions
  std::string compiler;     // tuningCompiler(): whose records of the log are no hints
  std::vector<Specialization> specializations;  // for the combinations of these; each names a variable of the model
  DecisionRequests decisions;  // about the graph, in place of the usual ones; each must be one that this graph has
  PassOptions passes;
  size_t mostInstructions = SIZE_MAX;                       // of a kernel, once it is a list of them
  bool keepForms = false;                                   // fill KernelCode::forms
  bool keepSource = false;                                  // fill KernelCode::source
  Linker* linker = nullptr;                                 // where code for processors is joined; a process has one
  PassFailure* failure = nullptr;                           // filled when an error is the compiler's own (Diag::Verify)
  KernelCache* cache = nullptr;                             // kernels of earlier compiles; never changes the result
  std::function<void(size_t done, size_t total)> progress;  // called from the compiling thread, may be empty
  CFiles cFiles;                                            // that the graph takes functions from
};

/// The options of a compile as its targets see them: the plan's own first, then one for each other target of a device.
std::vector<CompileOptions> optionsByTarget(const CompileOptions& options);
/// The options of a compile as its variants see them, by variant. Those of devices come first.
std::vector<CompileOptions> optionsOfVariants(std::span<const CompileOptions> byTarget);

/// The processor of the code that the host runs; null where no target is for one.
const CpuTarget* hostProcessor(const CompileOptions& options);

}  // namespace svod
