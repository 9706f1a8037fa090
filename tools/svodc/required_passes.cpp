#include "required_passes.h"

#include "driver/fold_constants.h"
#include "driver/kernel_job.h"
#include "driver/same_graph.h"
#include "interp/same_values.h"
#include "schedule/graph_passes.h"
#include "verify_sizes.h"

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

std::string guilty(const Pass& pass, const std::string& where, const Error& error) {
  return "pass " + std::string(pass.name) + " does it" + where + ", which always runs: " + error.message;
}

/// Empty: no pass over the graph does it, and the schedule is in `schedule`.
Result<std::string> faultInGraph(Model& model, const CompileOptions& options, std::optional<Schedule>& schedule) {
  SVOD_TRY(const UOp folded, foldConstants(model, options.fold));
  const GraphWatch watch(model);
  std::string fault;
  const Caps caps = options.target->caps(options.machine, options.numerics);
  ScheduleOptions graph{options.numerics, caps.bf16Dots, options.passes, options.decisions};
  graph.passes.instrument = [&](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
    if (options.passes.instrument) {
      SVOD_TRY(root, options.passes.instrument(pass, root, cx));
    }
    const Status same = fault.empty() ? watch.check(root, cx.data.get<GraphJob>()) : Status();
    if (!same && same.error().diag != Diag::Mismatch) return fail(same.error());
    if (!same) fault = guilty(pass, "", same.error());
    return root;
  };
  PassLog log;
  SVOD_TRY(schedule, runGraphPasses(model, folded, graph, log));
  return fault;
}

Result<std::string> faultInKernel(const Kernel& kernel, const CompileOptions& options) {
  Graph graph;
  UOp root = graph.clone(kernel.sink);
  KernelJob job = kernelJob(*options.target, options.machine, options.numerics, options.optLevel);
  PassLog log;
  PassContext cx{graph, log, options.passes, kernel.name, options.numerics, {}};
  cx.data.put(job);
  for (const Pass& pass : options.target->passes()) {
    if (pass.optional) continue;
    SVOD_TRY(const UOp after, runPipeline(std::span(&pass, 1), root, cx));
    const Status same = checkSameValues(root, after);
    if (!same && same.error().diag == Diag::Mismatch) return guilty(pass, " to kernel " + kernel.name, same.error());
    SVOD_CHECK(same);
    root = after;
  }
  return std::string();
}

Result<std::string> firstFault(Model& model, const CompileOptions& options) {
  std::optional<Schedule> schedule;
  SVOD_TRY(std::string fault, faultInGraph(model, options, schedule));
  if (!fault.empty() || !schedule) return fault;
  for (const Kernel& kernel : schedule->kernels) {
    SVOD_TRY(fault, faultInKernel(kernel, options));
    if (!fault.empty()) return fault;
  }
  return "no pass that always runs changes a value: what is left is the code of target " +
         std::string(options.target->name) + ", and the plan";
}

}  // namespace

std::string faultOfRequiredPasses(Model& model, CompileOptions options) {
  options.passes.bisectLimit = 0;
  return firstFault(model, options).value_or("");
}

}  // namespace svod
