#include "driver/compile.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "driver/describe_kernel.h"
#include "driver/device_kernels.h"
#include "driver/kernel_job.h"
#include "driver/kernel_passes.h"
#include "driver/plan_builder.h"
#include "driver/schedule_kernels.h"
#include "driver/tuned_opts.h"
#include "driver/tuned_plan.h"
#include "driver/workers.h"
#include "ir/text.h"
#include "linearize/linearize.h"
#include "schedule/graph_passes.h"
#include "support/suggest.h"
#include "support/version.h"

namespace svod {

namespace {

constexpr std::string_view kApplyOpts = "apply-opts";

class Stopwatch {
 public:
  explicit Stopwatch(std::vector<PhaseTime>& times) : times_(times) {}
  void lap(std::string phase) {
    auto now = std::chrono::steady_clock::now();
    times_.push_back({std::move(phase), std::chrono::duration<double>(now - start_).count()});
    start_ = now;
  }

 private:
  std::vector<PhaseTime>& times_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The opts asked for this kernel, or null.
const KernelOpts* requestedOpts(const std::string& kernel, const CompileOptions& options) {
  auto found = std::ranges::find_if(options.opts, [&](const KernelOpts& entry) { return entry.isFor(kernel); });
  return found == options.opts.end() ? nullptr : &*found;
}

/// Every entry is for a kernel, and no kernel has two.
Status checkOptsMatch(const Schedule& schedule, const CompileOptions& options) {
  for (const Kernel& k : schedule.kernels) {
    const KernelOpts* first = requestedOpts(k.name, options);
    for (const KernelOpts& other : options.opts)
      if (first != nullptr && &other != first && other.isFor(k.name))
        return fail(Diag::Usage,
                    "--opts '" + first->kernel + "' and '" + other.kernel + "' are both for kernel " + k.name,
                    "give each kernel one list; longer parts of their names tell kernels apart");
  }
  for (const KernelOpts& entry : options.opts) {
    auto matches = [&](const Kernel& k) { return entry.isFor(k.name); };
    if (std::any_of(schedule.kernels.begin(), schedule.kernels.end(), matches)) continue;
    std::vector<std::string_view> names;
    for (const Kernel& k : schedule.kernels) {
      names.push_back(k.name);
      names.push_back(std::string_view(k.name).substr(0, k.name.find('_')));  // its label
    }
    return fail(Diag::Usage, "there is no kernel '" + entry.kernel + "' for --opts",
                didYouMean(entry.kernel, names, "svodc inspect GRAPH --kernels shows them"));
  }
  return {};
}

Status makeLinear(CompiledKernel& kernel, UOp lowered, const CompileOptions& options) {
  SVOD_TRY(kernel.linear, linearize(*kernel.graph, lowered, kernel.name, options.numerics));
  if (kernel.linear.ops.size() > options.mostInstructions)
    return fail(Diag::TooLarge,
                "the kernel has " + std::to_string(kernel.linear.ops.size()) + " instructions, and may have " +
                    std::to_string(options.mostInstructions),
                "use opts that write out less");
  for (int slot : kernel.inPlace)
    if (static_cast<size_t>(slot) < kernel.linear.params.size()) kernel.linear.params[slot].inPlace = true;
  SVOD_TRY(kernel.desc, describeKernel(kernel.linear, kernel.ast, toText(optsOf(kernel.choice)), kernel.layouts,
                                       options.target->deviceKind != DeviceKind::Cpu));
  return {};
}

/// The kernel as the passes leave it: what LinearKernel is made of.
Result<UOp> lower(CompiledKernel& kernel, const CompileOptions& options) {
  KernelJob job = kernelJob(*options.target, options.machine, options.numerics, options.optLevel);
  job.caps.overwrites = !kernel.inPlace.empty();
  job.caps.constants = kernel.constants;
  if (const KernelOpts* entry = requestedOpts(kernel.name, options)) job.requested = entry->opts;
  job.tuned = kernel.tuned;
  PassContext cx{*kernel.graph, kernel.log, options.passes, kernel.name, options.numerics, {}};
  cx.data.put(job);
  SVOD_TRY(UOp lowered, runPipeline(options.target->passes(), kernel.ast, cx));
  kernel.unopted = job.unopted, kernel.optimized = job.optimized;
  kernel.choice = std::move(job.choice);
  kernel.layouts = std::move(job.layouts);
  return lowered;
}

Status compileAnew(CompiledKernel& kernel, const CompileOptions& options) {
  SVOD_TRY(const UOp lowered, lower(kernel, options));
  if (kernel.log.stopped) return {};
  Status emitted = makeLinear(kernel, lowered, options);
  if (emitted) emitted = options.target->emitKernel(kernel, options);
  if (!emitted) {
    kernel.log.lastGood = toUopText(lowered);
    kernel.log.failedPass = "code of target " + std::string(options.target->name);
  }
  return emitted;
}

/// Whether something is wanted that only compiling shows.
bool wantsToSee(const CompileOptions& options) {
  const PassOptions& p = options.passes;
  return options.keepSource || options.keepForms || !p.printBefore.empty() || !p.printAfter.empty() || p.printChanged ||
         p.ruleStats || !p.stopAfter.empty() || p.instrument;
}

Status compileKernel(CompiledKernel& kernel, const CompileOptions& options) {
  if (options.tuning != nullptr && options.optLevel > 0 && requestedOpts(kernel.name, options) == nullptr)
    kernel.tuned = winnersOf(*options.tuning, tuningHash(kernel), tuningTarget(options), options.compiler);
  if (options.cache == nullptr || wantsToSee(options)) return compileAnew(kernel, options);
  const std::string key = options.cache->keyOf(kernel, requestedOpts(kernel.name, options), options);
  if (options.cache->find(key, kernel)) return {};
  SVOD_CHECK(compileAnew(kernel, options));
  options.cache->keep(key, kernel);
  return {};
}

/// Compiles all kernels on `jobs` threads. The first error in kernel order is returned, whichever came first in time.
Status compileKernels(std::vector<CompiledKernel>& kernels, std::span<const CompileOptions> byTarget,
                      std::span<const size_t> targetOf) {
  const CompileOptions& options = byTarget[0];
  std::vector<Status> status(kernels.size());
  std::atomic<size_t> next = 0, done = 0;
  const auto compileNext = [&] {
    const size_t i = next++;
    if (i >= kernels.size()) return false;
    status[i] = compileKernel(kernels[i], byTarget[targetOf[i]]);
    ++done;
    return true;
  };
  {
    Workers workers(std::min(static_cast<size_t>(options.jobs), kernels.size()), options.tokens);
    do {
      if (next + 1 < kernels.size())
        workers.start([&] {
          while (compileNext()) {
          }
        });
      if (options.progress && done > 0) options.progress(done, kernels.size());
    } while (compileNext());
  }
  if (options.progress && done > 0) options.progress(done, kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (status[i]) continue;
    if (options.failure != nullptr && status[i].error()->diag == Diag::Verify)
      *options.failure = {kernels[i].name, kernels[i].log.failedPass, kernels[i].log.lastGood};
    return fail(std::move(status[i].error()).withNote("in kernel " + kernels[i].name));
  }
  return {};
}

/// What a pass over the graph was given when it failed.
Error withFailure(Error error, const PassLog& log, const CompileOptions& options) {
  if (options.failure != nullptr && error->diag == Diag::Verify)
    *options.failure = {"graph", log.failedPass, log.lastGood};
  return error;
}

TargetRecord recordOf(const CpuTarget& cpu) { return {cpu.triple, cpu.name, cpu.features, {}, {}}; }
TargetRecord recordOf(const GpuTarget& gpu) { return {hostTriple(), gpu.name, {}, {}, {}}; }

PlanOptions planOptions(const Model& model, const CompileOptions& options) {
  PlanOptions plan;
  const PlanDevices devices = planDevices(model, options);
  plan.devices = devices.table, plan.usual = devices.usual;
  plan.name = options.name;
  plan.memory = options.memory;
  // The processor, where there is code for one.
  const CpuTarget* host = hostProcessor(options);
  plan.target =
      host != nullptr ? recordOf(*host) : std::visit([](const auto& m) { return recordOf(m); }, options.machine);
  plan.target.numerics = toText(options.numerics);
  plan.target.compiler = "svod " + std::string(kVersion);
  return plan;
}

/// Every target joins its kernels, that of the host functions of C files as well; they know where they are then.
Status joinKernels(Compilation& c, std::span<const CompileOptions> byTarget, std::span<const size_t> targetOf) {
  for (size_t target = 0; target < byTarget.size(); ++target) {
    std::vector<CompiledKernel*> kernels;
    for (size_t i = 0; i < c.kernels.size(); ++i)
      if (targetOf[i] == target) kernels.push_back(&c.kernels[i]);
    const FileId file(c.files.size());
    SVOD_CHECK(byTarget[target].target->finish(c, kernels, byTarget[target]));
    if (byTarget[target].target->deviceKind == DeviceKind::Cpu)
      for (KernelDesc& function : c.functions) function.file = file;
    for (CompiledKernel* kernel : kernels) {
      if (!kernel->desc.grid) kernel->desc.file = file;
      if (kernel->desc.grid)
        for (KernelImage& image : kernel->desc.grid->images) image.file += file;
    }
  }
  return {};
}

}  // namespace

CompiledKernel copyOf(const CompiledKernel& kernel, std::string name) {
  CompiledKernel copy;
  copy.name = std::move(name), copy.inPlace = kernel.inPlace, copy.constants = kernel.constants;
  copy.graph = std::make_unique<Graph>();
  copy.ast = copy.graph->clone(kernel.unopted ? kernel.unopted : kernel.ast);
  if (kernel.unopted) copy.unopted = copy.ast;
  return copy;
}

Status chooseFor(CompiledKernel& kernel, const CompileOptions& options) {
  CompileOptions own = options;
  own.passes = {};
  own.passes.stopAfter = kApplyOpts;
  return lower(kernel, own).transform([](UOp) {});
}

Status lowerWith(CompiledKernel& copy, std::vector<OptOp> opts, const CompileOptions& options) {
  CompileOptions own = options;
  own.opts = {{copy.name, std::move(opts)}};
  for (const Pass& pass : copy.unopted ? options.target->passes() : std::span<const Pass>()) {
    if (pass.name == kApplyOpts) break;
    own.passes.disabledPasses.emplace_back(pass.name);  // it has run
  }
  SVOD_TRY(const UOp lowered, lower(copy, own));
  return makeLinear(copy, lowered, own);
}

Result<std::unique_ptr<Compilation>> compile(Model& model, const CompileOptions& options) {
  auto result = std::make_unique<Compilation>();
  Stopwatch watch(result->times);
  SVOD_TRY(const UOp folded, foldConstants(model, options.fold));
  watch.lap("fold");
  result->folded = folded;
  auto schedule = scheduleTuned(model, folded, options, result->log);
  if (!schedule) return fail(withFailure(std::move(schedule.error()), result->log, options));
  if (!*schedule) return result;
  result->schedule = std::move(**schedule);
  SVOD_CHECK(checkOptsMatch(result->schedule, options));
  SVOD_TRY(const std::vector<size_t> targetOf, assignTargets(model, result->schedule, options));
  watch.lap("schedule");

  result->kernels = kernelsOf(model, result->schedule);
  std::vector<CompileOptions> byTarget = optionsByTarget(options);
  for (CompileOptions& of : byTarget) of.passes = optionsAfter(options.passes, graphPasses());
  Status compiled = compileKernels(result->kernels, byTarget, targetOf);
  bool stopped = false;
  for (CompiledKernel& k : result->kernels) {
    result->log.add(k.log);
    stopped |= k.log.stopped;
  }
  SVOD_CHECK(compiled);
  watch.lap("kernels");
  if (stopped) return result;

  SVOD_CHECK(compileCFunctions(*result, byTarget));
  SVOD_CHECK(joinKernels(*result, byTarget, targetOf));
  watch.lap("link");
  std::vector<PlannedKernel> kernels;
  for (const CompiledKernel& k : result->kernels) kernels.push_back({k.desc, k.layouts});
  WeightsLayout weights(static_cast<FileId>(result->files.size()));
  const std::vector<ConstantLayout> none;
  for (const KernelDesc& function : result->functions) kernels.push_back({function, none});
  SVOD_TRY(result->plan,
           buildPlan(model, result->schedule, kernels, planOptions(model, options), weights, result->constants));
  for (const Decision& decision : result->schedule.decisions) result->plan.decisions.push_back(toText(decision));
  if (!weights.constants().empty()) result->files.push_back(weights.file("weights.bin"));
  watch.lap("plan");
  return result;
}

}  // namespace svod
