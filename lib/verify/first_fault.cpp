#include "verify/first_fault.h"

#include <algorithm>

#include "driver/fold_constants.h"
#include "driver/kernel_job.h"
#include "driver/same_graph.h"
#include "interp/same_values.h"
#include "linearize/linearize.h"
#include "lower/expand.h"
#include "lower/gpu_dims.h"
#include "lower/rings.h"
#include "schedule/graph_passes.h"
#include "verify/sizes.h"

namespace svod {

namespace {

/// Compares what the graph computes after each pass over it with what the model does.
class GraphWatch {
 public:
  explicit GraphWatch(Model& model) : model_(model), choices_(chooseSizes(model)) {}

  Status check(UOp root, const GraphJob& job) const {
    for (const SizeChoice& choice : choices_) SVOD_CHECK(checkSameGraph(model_, root, job, choice.values));
    return {};
  }

 private:
  Model& model_;
  std::vector<SizeChoice> choices_;
};

/// Compares what a kernel computes after each pass with what it did before. Threads that wait for each other run as a
/// list of instructions, and such graphs are compared with the last one without them.
class KernelWatch {
 public:
  explicit KernelWatch(UOp root) : before_(root) {}

  Status check(PassContext& cx, UOp after) {
    if (!hasThreads(after)) return checkSameValues(std::exchange(before_, after), after);
    const GpuTarget& gpu = cx.data.get<KernelJob>().caps.gpu;
    if (!hasOp(after, Op::Special)) {
      SVOD_TRY(after, lowerGpuDims(cx.graph, after, gpu.limits));
    }
    UOp ready = turnRings(cx.graph, mergeLoops(cx.graph, after), gpu);
    SVOD_TRY(const LinearKernel threads, linearize(cx.graph, ready, "threads", cx.numerics));
    return checkSameValues(before_, threads);
  }

 private:
  static bool hasOp(UOp root, Op op) {
    return std::ranges::any_of(toposort(root), [&](UOp n) { return n.op() == op; });
  }
  static bool hasThreads(UOp root) {
    return hasOp(root, Op::Special) || hasOp(root, Op::Barrier) || hasOp(root, Op::Gpu);
  }

  UOp before_;
};

/// Which passes are watched: those from `first` on.
class From {
 public:
  explicit From(std::string_view first) : first_(first), isReached_(first.empty()) {}
  bool reaches(const Pass& pass) { return isReached_ |= pass.name == first_; }

 private:
  std::string_view first_;
  bool isReached_;
};

/// In the fault: what `same` says, where that is a difference.
Result<std::optional<Fault>> faultOf(const Pass& pass, const std::string& where, const Status& same) {
  if (same) return std::nullopt;
  if (same.error()->diag != Diag::Mismatch) return fail(same.error());
  return Fault{std::string(pass.name), where, same.error()->message};
}

/// The schedule of the graph is in `schedule`.
Result<std::optional<Fault>> faultInGraph(Model& model, const CompileOptions& options, std::string_view first,
                                          std::optional<Schedule>& schedule) {
  SVOD_TRY(const UOp folded, foldConstants(model, options.fold));
  const GraphWatch watch(model);
  From from(first);
  std::optional<Fault> fault;
  const Caps caps = options.target->caps(options.machine, options.numerics);
  ScheduleOptions graph{options.numerics, graphMachine(caps), options.passes, options.decisions};
  graph.passes.instrument = [&](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
    if (options.passes.instrument) {
      SVOD_TRY(root, options.passes.instrument(pass, root, cx));
    }
    if (fault || !from.reaches(pass)) return root;
    SVOD_TRY(fault, faultOf(pass, "", watch.check(root, cx.data.get<GraphJob>())));
    return root;
  };
  PassLog log;
  SVOD_TRY(schedule, runGraphPasses(model, folded, graph, log));
  return fault;
}

Result<std::optional<Fault>> faultInKernel(const Kernel& kernel, const CompileOptions& options, From from) {
  Graph graph;
  UOp root = graph.clone(kernel.sink);
  KernelJob job = kernelJob(*options.target, options.machine, options.numerics, options.optLevel);
  job.caps.overwrites = !kernel.inPlace.empty();
  for (const KernelOpts& entry : options.opts)
    if (entry.isFor(kernel.name)) job.requested = entry.opts;
  PassLog log;
  PassOptions passes = optionsAfter(options.passes, graphPasses());
  std::optional<KernelWatch> watch;
  std::optional<Fault> fault;
  passes.instrument = [&](const Pass& pass, UOp after, PassContext& cx) -> Result<UOp> {
    if (options.passes.instrument) {
      SVOD_TRY(after, options.passes.instrument(pass, after, cx));
    }
    if (!fault && watch && from.reaches(pass)) {
      SVOD_TRY(fault, faultOf(pass, " to kernel " + kernel.name, watch->check(cx, after)));
    }
    return after;
  };
  watch.emplace(root);
  PassContext cx{graph, log, passes, kernel.name, options.numerics, {}};
  cx.data.put(job);
  SVOD_CHECK(runPipeline(kernelPasses(*options.target), root, cx));
  return fault;
}

}  // namespace

Result<Fault> firstFault(Model& model, const CompileOptions& options, std::string_view first) {
  std::optional<Schedule> schedule;
  SVOD_TRY(std::optional<Fault> fault, faultInGraph(model, options, first, schedule));
  if (fault) return *fault;
  const bool isOfGraph = first.empty() || std::ranges::find(graphPasses(), first, &Pass::name) != graphPasses().end();
  for (const Kernel& kernel : schedule->kernels) {
    SVOD_TRY(fault, faultInKernel(kernel, options, From(isOfGraph ? "" : first)));
    if (fault) return *fault;
  }
  return Fault{};
}

}  // namespace svod
