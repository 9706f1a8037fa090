#include "driver/plan_price.h"

#include <algorithm>

#include "cost/kernel_cost.h"
#include "data/sha256.h"
#include "driver/compile.h"
#include "driver/schedule_kernels.h"
#include "driver/tuned_opts.h"
#include "driver/tuned_plan.h"
#include "schedule/graph_passes.h"

namespace svod {

namespace {

double middleOf(UOp size) {
  const Interval bounds = size.bounds();
  return std::max(0.0, (static_cast<double>(bounds.min) + static_cast<double>(bounds.max)) / 2);
}

/// Every item as often as the loops around it run.
double timeOf(const Schedule& schedule, const std::vector<KernelPrices::value_type>& kernels, const Caps& caps,
              KernelPrices& each) {
  struct Open {
    size_t end;
    double times;
  };
  std::vector<Open> open;
  double all = 0, times = 1;
  for (size_t i = 0; i < schedule.items.size(); ++i) {
    for (; !open.empty() && open.back().end == i; open.pop_back()) times = open.back().times;
    const ScheduleItem& item = schedule.items[i];
    if (item.kind == ItemKind::Launch) {
      const auto& [hash, time] = kernels[static_cast<size_t>(item.kernel)];
      all += times * time, each[hash] += times * time;
    }
    if (item.kind == ItemKind::Copy && item.elements) {
      const DType dtype = schedule.buffers[static_cast<size_t>(item.args[0])].dtype;
      all += times * 2000 * static_cast<double>(memoryBytes(dtype, static_cast<int64_t>(middleOf(item.elements)))) /
             caps.memoryMBs;
    }
    if (item.kind != ItemKind::Loop) continue;
    open.push_back({i + 1 + item.length, times});
    times *= middleOf(schedule.loops[static_cast<size_t>(item.kernel)].count);
  }
  return all;
}

}  // namespace

double predictedTime(const CompiledKernel& kernel, const CompileOptions& options) {
  if (!kernel.optimized) return 0;
  Caps caps = options.target->caps(options.machine, options.numerics);
  caps.overwrites = !kernel.inPlace.empty(), caps.constants = kernel.constants;
  return svod::timeOf(KernelFacts(kernel.optimized), caps).oneThread;
}

Result<PlanPrice> priceOf(Model& model, UOp folded, const CompileOptions& options, const DecisionRequests& decisions,
                          KernelPrices& known) {
  ScheduleOptions own = scheduleOptions(options);
  own.passes = {}, own.decisions = decisions;
  PassLog unused;
  SVOD_TRY(std::optional<Schedule> schedule, runGraphPasses(model, folded, own, unused));
  PlanPrice price{schedule->decisions, 0, {}, sha256Hex(toText(*schedule)).substr(0, 32)};
  std::vector<KernelPrices::value_type> times;
  for (CompiledKernel& kernel : kernelsOf(model, *schedule)) {
    const std::string hash = tuningHash(kernel);
    if (!known.contains(hash)) {
      SVOD_CHECK(chooseFor(kernel, options));
      known[hash] = predictedTime(kernel, options);
    }
    times.emplace_back(hash, known[hash]);
  }
  const Caps caps = options.target->caps(options.machine, options.numerics);
  price.nanoseconds = timeOf(*schedule, times, caps, price.kernels);
  return price;
}

}  // namespace svod
