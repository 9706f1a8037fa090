#include "driver/compile_kernels.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <span>

#include "driver/compile.h"
#include "driver/describe_kernel.h"
#include "driver/kernel_cache.h"
#include "driver/kernel_job.h"
#include "driver/kernel_passes.h"
#include "driver/tuned_opts.h"
#include "driver/workers.h"
#include "ir/text.h"
#include "linearize/linearize.h"

namespace svod {

namespace {

constexpr std::string_view kApplyOpts = "apply-opts";

/// "120 load, 96 add", the most frequent ones first.
std::string frequentOps(const std::vector<UOp>& ops) {
  constexpr size_t kNamed = 8;
  std::map<std::string_view, size_t> counts;
  for (UOp n : ops) ++counts[toText(n.op())];
  std::vector<std::pair<std::string_view, size_t>> ranked(counts.begin(), counts.end());
  std::ranges::stable_sort(ranked, std::greater<>(), &std::pair<std::string_view, size_t>::second);
  std::string text;
  for (const auto& [name, count] : std::span(ranked).first(std::min(kNamed, ranked.size())))
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(name);
  return text;
}

Status makeLinear(CompiledKernel& kernel, UOp lowered, const CompileOptions& options) {
  SVOD_TRY(kernel.linear, linearize(*kernel.graph, lowered, kernel.name, options.numerics));
  if (kernel.linear.ops.size() > options.mostInstructions)
    return fail(Diag::TooLarge,
                "the kernel has " + std::to_string(kernel.linear.ops.size()) + " instructions, and may have " +
                    std::to_string(options.mostInstructions) + ": " + frequentOps(kernel.linear.ops),
                "use opts that write out less");
  for (int slot : kernel.inPlace)
    if (static_cast<size_t>(slot) < kernel.linear.params.size()) kernel.linear.params[slot].inPlace = true;
  SVOD_TRY(kernel.desc, describeKernel(kernel.linear, kernel.ast, toText(optsOf(kernel.choice)), kernel.layouts,
                                       kernel.launched, options.target->hasGrid()));
  return {};
}

/// The kernel as the passes leave it: what LinearKernel is made of.
Result<UOp> lower(CompiledKernel& kernel, const CompileOptions& options) {
  KernelJob job = kernelJob(*options.target, options.machine, options.numerics, options.optLevel);
  job.caps.overwrites = !kernel.inPlace.empty();
  job.caps.constants = kernel.constants, job.orders = kernel.orders;
  if (const KernelOpts* entry = requestedOpts(kernel.name, options)) job.requested = entry->opts;
  job.tuned = kernel.tuned, job.mostInstructions = options.mostTuned;
  PassContext cx{*kernel.graph, kernel.log, options.passes, kernel.name, options.numerics, {}};
  cx.data.put(job);
  SVOD_TRY(UOp lowered, runPipeline(kernelPasses(*options.target), kernel.ast, cx));
  kernel.unopted = job.unopted, kernel.optimized = job.optimized;
  kernel.choice = std::move(job.choice), kernel.passed = std::move(job.passed);
  kernel.layouts = std::move(job.layouts);
  kernel.launched = std::move(job.launched);
  return lowered;
}

Status emit(CompiledKernel& kernel, const CompileOptions& options) {
  const EmitJob job{*kernel.graph,       kernel.linear,    kernel.desc,        options.machine,
                    options.tools.get(), options.optLevel, options.keepSource, options.keepForms};
  SVOD_TRY(static_cast<KernelCode&>(kernel), options.target->emit(job));
  return {};
}

Status compileAnew(CompiledKernel& kernel, const CompileOptions& options) {
  SVOD_TRY(const UOp lowered, lower(kernel, options));
  if (kernel.log.stopped) return {};
  Status emitted = makeLinear(kernel, lowered, options);
  if (emitted) emitted = emit(kernel, options);
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

void takeWinners(CompiledKernel& kernel, const CompileOptions& options) {
  const std::string hash = tuningHash(kernel), target = tuningTarget(options);
  kernel.known =
      requestedOpts(kernel.name, options) == nullptr ? knowledgeOf(*options.tuning, hash, target) : LogKnows::NotAsked;
  if (kernel.known == LogKnows::Target) kernel.tuned = winnersOf(*options.tuning, hash, target, options.compiler);
}

Status compileKernel(CompiledKernel& kernel, const CompileOptions& options) {
  if (options.tuning != nullptr && options.optLevel > 0) takeWinners(kernel, options);
  if (options.cache == nullptr || wantsToSee(options)) return compileAnew(kernel, options);
  const std::string key = options.cache->keyOf(kernel, requestedOpts(kernel.name, options), options);
  if (options.cache->find(key, kernel)) return {};
  SVOD_CHECK(compileAnew(kernel, options));
  options.cache->keep(key, kernel);
  return {};
}

}  // namespace

const KernelOpts* requestedOpts(const std::string& kernel, const CompileOptions& options) {
  auto found = std::ranges::find_if(options.opts, [&](const KernelOpts& entry) { return entry.isFor(kernel); });
  return found == options.opts.end() ? nullptr : &*found;
}

Status compileKernels(std::span<const KernelTask> tasks, const CompileOptions& options) {
  std::vector<Status> status(tasks.size());
  std::atomic<size_t> next = 0, done = 0;
  const auto compileNext = [&] {
    const size_t i = next++;
    if (i >= tasks.size()) return false;
    status[i] = compileKernel(*tasks[i].kernel, *tasks[i].options);
    ++done;
    return true;
  };
  {
    Workers workers(std::min(static_cast<size_t>(options.jobs), tasks.size()), options.tokens);
    do {
      if (next + 1 < tasks.size())
        workers.start([&] {
          while (compileNext()) {
          }
        });
      if (options.progress && done > 0) options.progress(done, tasks.size());
    } while (compileNext());
  }
  if (options.progress && done > 0) options.progress(done, tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (status[i]) continue;
    const CompiledKernel& kernel = *tasks[i].kernel;
    if (options.failure != nullptr && status[i].error()->diag == Diag::Verify)
      *options.failure = {kernel.name, kernel.log.failedPass, kernel.log.lastGood};
    const bool isOne = std::ranges::all_of(tasks, [&](const KernelTask& task) {
      return task.options->target != tasks[i].options->target || task.options->variants.empty();
    });
    const std::string of =
        isOne ? "" : " for " + std::visit([](const auto& m) { return m.name; }, tasks[i].options->machine);
    return fail(std::move(status[i].error()).withNote("in kernel " + kernel.name + of));
  }
  return {};
}

CompiledKernel copyOf(const CompiledKernel& kernel, std::string name) {
  CompiledKernel copy;
  copy.name = std::move(name), copy.inPlace = kernel.inPlace, copy.constants = kernel.constants;
  copy.standsFor = kernel.standsFor, copy.givesOrder = kernel.givesOrder, copy.orders = kernel.orders;
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
  for (const Pass& pass : copy.unopted ? kernelPasses(*options.target) : std::span<const Pass>()) {
    if (pass.name == kApplyOpts) break;
    own.passes.disabledPasses.emplace_back(pass.name);  // it has run
  }
  SVOD_TRY(const UOp lowered, lower(copy, own));
  return makeLinear(copy, lowered, own);
}

}  // namespace svod
