#include "driver/compile.h"

#include <algorithm>
#include <chrono>

#include "driver/c_functions.h"
#include "driver/compile_kernels.h"
#include "driver/device_kernels.h"
#include "driver/fold_constants.h"
#include "driver/join_code.h"
#include "driver/kernel_job.h"
#include "driver/kernel_passes.h"
#include "driver/needed_features.h"
#include "driver/plan_builder.h"
#include "driver/schedule_kernels.h"
#include "driver/shared_orders.h"
#include "driver/specialize.h"
#include "driver/tuned_plan.h"
#include "driver/variants.h"
#include "schedule/graph_passes.h"
#include "support/suggest.h"
#include "support/version.h"

namespace svod {

namespace {

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

/// Compiles the kernels from `first` on, and those of variants. `stopped`: a pass was the last one that is asked for.
Status compileFrom(size_t first, Compilation& c, const CompileOptions& options,
                   std::span<const CompileOptions> byTarget, std::span<const size_t> targetOf,
                   std::span<const CompileOptions> variants, bool& stopped) {
  copyForVariants(c, variants, byTarget, targetOf);
  std::vector<KernelTask> tasks;
  for (size_t k = first; k < c.kernels.size(); ++k) tasks.push_back({&c.kernels[k], &byTarget[targetOf[k]]});
  for (size_t v = 0; v < variants.size(); ++v)
    for (CompiledKernel& kernel : std::span(c.variants[v].kernels).subspan(first))
      if (!kernel.name.empty()) tasks.push_back({&kernel, &variants[v]});
  Status compiled = compileKernels(tasks, options);
  for (const KernelTask& task : tasks) {
    c.log.add(task.kernel->log);
    stopped |= task.kernel->log.stopped;
  }
  return compiled;
}

/// Of the plan, and of each variant.
std::vector<SharedKernels> allKernels(Compilation& c, std::span<const CompileOptions> byTarget,
                                      std::span<const size_t> targetOf, std::span<const CompileOptions> variants) {
  std::vector<SharedKernels> all;
  all.push_back({c.kernels, {}});
  for (const size_t target : targetOf) all[0].options.push_back(&byTarget[target]);
  for (size_t v = 0; v < variants.size(); ++v)
    all.push_back({c.variants[v].kernels, std::vector<const CompileOptions*>(targetOf.size(), &variants[v])});
  return all;
}

/// What a pass over the graph was given when it failed.
Error withFailure(Error error, const PassLog& log, const CompileOptions& options) {
  if (options.failure != nullptr && error->diag == Diag::Verify)
    *options.failure = {"graph", log.failedPass, log.lastGood};
  return error;
}

using Kernels = std::span<const CompiledKernel>;

TargetRecord recordOf(const CpuTarget& cpu, Kernels kernels) {
  return {cpu.triple, cpu.name, neededFeatures(cpu, kernels), {}, {}};
}
TargetRecord recordOf(const GpuTarget& gpu, Kernels) { return {hostTriple(), gpu.name, {}, {}, {}}; }

/// Of a device that stands for itself, all of its architectures.
TargetRecord recordOf(const CompileOptions& options, Kernels kernels) {
  TargetRecord record = std::visit([&](const auto& m) { return recordOf(m, kernels); }, options.machine);
  for (const Machine& machine : options.variants)
    if (const auto* gpu = std::get_if<GpuTarget>(&machine)) record.cpu += "," + gpu->name;
  return record;
}

PlanOptions planOptions(const Model& model, const CompileOptions& options, Kernels kernels) {
  PlanOptions plan;
  const PlanDevices devices = planDevices(model, options);
  plan.devices = devices.table, plan.usual = devices.usual;
  plan.name = options.name;
  plan.memory = options.memory;
  // The processor, where there is code for one.
  const CpuTarget* host = hostProcessor(options);
  plan.target = host != nullptr ? recordOf(*host, kernels) : recordOf(options, kernels);
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
    const bool isHost = !byTarget[target].target->hasGrid();
    const std::span<const FunctionObject> functions(c.functionObjects.data(), isHost ? c.functionObjects.size() : 0);
    SVOD_CHECK(joinCode(c, kernels, functions, byTarget[target]));
    if (isHost)
      for (KernelDesc& function : c.functions) function.file = file;
    for (CompiledKernel* kernel : kernels)
      if (!kernel->desc.grid) kernel->desc.file = file;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Compilation>> compile(Model& model, const CompileOptions& options) {
  auto result = std::make_unique<Compilation>();
  Stopwatch watch(result->times);
  SVOD_TRY(const UOp folded, foldConstants(model, options.fold));
  watch.lap("fold");
  result->folded = folded;
  TunedDecisions tuned;
  auto schedule = scheduleTuned(model, folded, options, result->log, tuned);
  result->known = tuned.known, result->passed = std::move(tuned.passed), result->tuned = tuned.used;
  if (!schedule) return fail(withFailure(std::move(schedule.error()), result->log, options));
  if (!*schedule) return result;
  result->schedule = std::move(**schedule);
  SVOD_CHECK(checkOptsMatch(result->schedule, options));
  SVOD_TRY(std::vector<size_t> targetOf, assignTargets(model, result->schedule, options));
  watch.lap("schedule");

  result->kernels = kernelsOf(model, result->schedule);
  SVOD_CHECK(specialize(model, *result, targetOf, options.specializations));
  std::vector<CompileOptions> byTarget = optionsByTarget(options), variants = optionsOfVariants(byTarget);
  for (std::vector<CompileOptions>* all : {&byTarget, &variants})
    for (CompileOptions& of : *all) of.passes = optionsAfter(options.passes, graphPasses());
  bool stopped = false;
  SVOD_CHECK(compileFrom(0, *result, options, byTarget, targetOf, variants, stopped));
  if (const size_t count = result->kernels.size(); !stopped) {
    specializeAsChosen(*result, targetOf);
    chooseOrders(*result, count);
    SVOD_CHECK(compileFrom(count, *result, options, byTarget, targetOf, variants, stopped));
    if (!stopped) SVOD_CHECK(shareOrders(allKernels(*result, byTarget, targetOf, variants), options));
  }
  watch.lap("kernels");
  if (stopped) return result;

  SVOD_CHECK(compileCFunctions(*result, byTarget, variants));
  findSame(*result);
  SVOD_CHECK(joinKernels(*result, byTarget, targetOf));
  std::vector<PlannedKernel> kernels;
  for (const CompiledKernel& k : result->kernels) kernels.push_back({k.desc, k.layouts});
  for (const KernelDesc& function : result->functions) kernels.push_back({function, {}});
  PlanOptions planned = planOptions(model, options, result->kernels);
  planned.cases = result->cases, planned.functions = KernelId(result->kernels.size());
  SVOD_TRY(planned.variants, joinVariants(*result, variants, kernels));
  watch.lap("link");
  WeightsLayout weights(static_cast<FileId>(result->files.size()));
  SVOD_TRY(result->plan, buildPlan(model, result->schedule, kernels, planned, weights, result->constants));
  for (const Decision& decision : result->schedule.decisions) result->plan.decisions.push_back(toText(decision));
  if (!weights.constants().empty()) result->files.push_back(weights.file("weights.bin"));
  watch.lap("plan");
  return result;
}

}  // namespace svod
