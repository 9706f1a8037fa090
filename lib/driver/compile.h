// compile(): a model in, a plan with its code out. The one place that sees every room.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "choose/choose.h"
#include "constants/constant_layout.h"
#include "driver/c_functions.h"
#include "driver/fold_constants.h"
#include "driver/kernel_cache.h"
#include "driver/targets.h"
#include "ir/model.h"
#include "linearize/linear.h"
#include "machine/machine.h"
#include "pass/pass.h"
#include "plan/directory.h"
#include "plan/memory_plan.h"
#include "schedule/schedule.h"
#include "toolchain/c_compiler.h"
#include "toolchain/linker.h"
#include "toolchain/nvrtc.h"
#include "tuning/winners.h"

namespace svod {

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
  std::vector<int64_t> sizes;
};

/// The kernel that takes the place of one where variables have these sizes.
struct KernelCase {
  std::vector<std::pair<std::string, int64_t>> sizes;
  size_t kernel = 0;  // of Compilation::kernels
};

struct CompileOptions {
  std::string name;                      // of the graph, recorded in the plan
  const Target* target = &targets()[0];  // what to generate code for, and the machine, which is one of the target's
  Machine machine;
  std::vector<DeviceTarget> devices;  // those of another target; a plan has one target for each kind of device
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
  bool keepForms = false;                                   // fill CompiledKernel::object and assembly
  bool keepSource = false;                                  // fill CompiledKernel::source
  Linker* linker = nullptr;                                 // target cpu: must be set; a process has one
  std::string tempDirectory;                                // target c with a compiler: for its input and output
  Tool cCompiler;                                           // target c: builds kernels.so when its program is set
  PassFailure* failure = nullptr;                           // filled when an error is the compiler's own (Diag::Verify)
  KernelCache* cache = nullptr;                             // kernels of earlier compiles; never changes the result
  std::function<void(size_t done, size_t total)> progress;  // called from the compiling thread, may be empty
  // Target c builds kernels.so: with cCompiler where that has a program, else in process, for which linker must be set.
  bool sourceOnly = false;             // target c: no kernels.so
  CFiles cFiles;                       // that the graph takes functions from
  std::shared_ptr<const Nvrtc> nvrtc;  // target cuda: null: the plan holds CUDA C in place of machine code
};

/// Whether kernels of target c are compiled in process.
inline bool compilesC(const CompileOptions& options) {
  return !options.sourceOnly && options.cCompiler.program.empty();
}

/// Everything known about one kernel after compiling. Owns its graph. Of a kernel that was found in the cache,
/// `unopted`, `optimized`, `choice`, `linear`, `launched`, `source`, `gpuLogs` and `log` are empty.
struct CompiledKernel {
  std::string name;
  std::unique_ptr<Graph> graph;
  UOp ast;                              // Kernel stage, as scheduled
  std::vector<int> inPlace;             // slots of arguments that its result may lie on
  std::vector<uint32_t> constants;      // slots of weights in every launch
  std::vector<ConstantLayout> layouts;  // of those that it reads in an order of its own
  std::vector<UOp> launched;            // what its launches count, before legalization
  UOp unopted, optimized;               // Kernel stage, before and after opts
  Choice choice;                        // what was applied, and why
  LinearKernel linear;
  std::string source;            // C or LLVM IR text, with keepSource
  std::string code;              // what the target joins: a relocatable object, or a function of C
  std::string object, assembly;  // with keepForms: the same, and as text; target cuda: CUDA C for nvcc, and PTX
  KernelDesc desc;               // for the plan
  LogKnows known = LogKnows::NotAsked;
  std::vector<Winner> tuned;        // what the tuning log has for it, best first
  std::vector<std::string> passed;  // why the first of those do not apply; the next one was taken, if there is one
  bool reused = false;              // found in the cache
  PassLog log;
  std::string compiled;          // target c: an object of its function, compiled in process
  std::string bitcode;           // target cpu: its LLVM IR, with keepForms
  std::vector<GpuCode> gpuLogs;  // target cuda: for each image, without the bytes
};

/// The functions of a C file, compiled; the first are those that compiled C may call without its knowledge.
struct FunctionObject {
  std::string file;  // as the graph names it
  std::string object;
};

/// The kernels of a plan for one more processor, or one more architecture of a device.
struct CompiledVariant {
  std::vector<CompiledKernel> kernels;  // by kernel id of the schedule; those of other targets without a name
  std::vector<FunctionObject> functionObjects;
  std::vector<std::optional<size_t>> same;  // by kernel: the first processor with an equal one, the plan's being 0
  std::optional<size_t> sameFunctions;      // the same of all functions of C files
  std::vector<KernelDesc> functions;        // where they are others
};

/// Seconds of wall time per phase, in order.
struct PhaseTime {
  std::string phase;
  double seconds = 0;
};

struct Compilation {
  LogKnows known = LogKnows::NotAsked;           // by the tuning log, of the graph
  std::vector<std::string> passed;               // why winners about the graph do not apply
  size_t tuned = 0;                              // decisions that are those of the tuning log
  UOp folded;                                    // the sink that the schedule was made of: constants are computed
  Schedule schedule;                             // without the graphs of its kernels
  std::vector<CompiledKernel> kernels;           // by kernel id of the schedule, then those for exact sizes
  std::vector<std::vector<KernelCase>> cases;    // by kernel id of the schedule: the first that fits a run is taken
  Plan plan;                                     // without the descriptions of its files
  std::vector<PlanFile> files;                   // chunks borrowed from `code`, the kernels, `constants` and the model
  std::deque<std::vector<std::byte>> constants;  // weights in the order in which kernels read them
  std::deque<std::string> code;                  // joined, by the targets that have kernels
  std::vector<PhaseTime> times;
  PassLog log;                                  // of all kernels, in order
  std::vector<KernelDesc> functions;            // of C files: kernels of the plan behind `kernels`
  std::vector<FunctionObject> functionObjects;  // with their code
  std::vector<CompiledVariant> variants;        // those of devices first, then as CompileOptions::variants
};

/// A kernel before its opts, under another name and in a graph of its own: as far as it was simplified, if it was.
/// Nothing is compiled.
CompiledKernel copyOf(const CompiledKernel& kernel, std::string name);
/// Takes a kernel as far as its opts: unopted, optimized, choice.
Status chooseFor(CompiledKernel& kernel, const CompileOptions& options);
/// Takes a copy with these opts as far as `linear` and `desc`, from where the copy begins; emitTogether()
/// (kernel_batch.h) makes its code. Errors: as for compile(); TooLarge beyond mostInstructions.
Status lowerWith(CompiledKernel& copy, std::vector<OptOp> opts, const CompileOptions& options);

/// The model must outlive the result: constants stay borrowed from it. With PassOptions::stopAfter the result has
/// no plan. Errors name the kernel and the pass.
Result<std::unique_ptr<Compilation>> compile(Model& model, const CompileOptions& options);

}  // namespace svod
