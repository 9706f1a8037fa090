#include "report/speed.h"

#include <cmath>
#include <map>
#include <numeric>

#include "report/plan_text.h"

namespace svod {

const KernelView* viewOf(const Subject& subject, const KernelDesc& kernel) {
  const auto isOf = [&](const KernelView& view) { return view.name == kernel.name || view.name == kernel.symbol; };
  const auto index = static_cast<size_t>(&kernel - subject.plan->kernels.data());
  if (index < subject.kernels.size() && isOf(subject.kernels[index]))
    return &subject.kernels[index];  // the usual order
  for (const KernelView& view : subject.kernels)
    if (isOf(view)) return &view;
  return nullptr;
}

Speed::Speed(const KernelInsight& insight) : predicted(insight.predictedNs), measured(insight.measuredNs) {
  const double roofline = measured > 0 ? insight.measuredRooflineNs : insight.rooflineNs;
  if (known() > 0) share = roofline / known();
}

double knownNs(const Subject& subject, const Step& step) {
  const Launch* launch = std::get_if<Launch>(&step.action);
  const KernelView* view = launch == nullptr ? nullptr : viewOf(subject, subject.plan->kernels[launch->kernel]);
  return view == nullptr ? 0 : Speed(view->insight).known();
}

std::vector<double> launchesOf(const Plan& plan) {
  std::vector<double> launches(plan.kernels.size());
  const std::vector<double> times = timesOf(plan);
  for (StepId i = 0; i < plan.steps.size(); ++i)
    if (const Launch* launch = std::get_if<Launch>(&plan.steps[i].action)) launches[launch->kernel] += times[i];
  return launches;
}

std::vector<double> runTimesOf(const Subject& subject) {
  std::vector<double> times = launchesOf(*subject.plan);
  for (KernelId i = 0; i < times.size(); ++i) {
    const KernelView* view = viewOf(subject, subject.plan->kernels[i]);
    times[i] *= view == nullptr ? 0 : Speed(view->insight).known();
  }
  return times;
}

double sumOf(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::string classOf(const Subject& subject, KernelId kernel) {
  const KernelView* view = viewOf(subject, subject.plan->kernels[kernel]);
  return view == nullptr ? "" : std::string(view->insight.pattern);
}

Cell shareCell(double share) { return Cell(share, std::to_string(std::lround(100 * share)) + " %"); }
Cell knownTime(double nanoseconds) { return nanoseconds > 0 ? timeCell(nanoseconds) : Cell("-"); }

namespace {

std::vector<Scatter::Roof> roofsOf(const CoreLimits& core) {
  std::vector<Scatter::Roof> roofs;
  const auto number = [](double value) { return std::to_string(std::lround(value)); };
  const std::string peak = ", " + number(core.gflops) + " GFLOP/s of f32";
  if (core.gflops > 0 && core.memoryGBs > 0)
    roofs.push_back({"memory " + number(core.memoryGBs) + " GB/s" + peak, core.memoryGBs, core.gflops});
  if (core.gflops > 0 && core.cacheGBs > 0)
    roofs.push_back({"cache " + number(core.cacheGBs) + " GB/s", core.cacheGBs, core.gflops});
  return roofs;
}

}  // namespace

Scatter rooflineOf(const Subject& subject) {
  const Plan& plan = *subject.plan;
  Scatter scatter{
      "Kernels beneath what the processor could do with their bytes and flops, on one thread; the larger, "
      "the more of a run",
      "flops per byte",
      "GFLOP/s",
      {},
      roofsOf(subject.core)};
  const std::vector<double> times = runTimesOf(subject);
  const double total = sumOf(times);
  for (KernelId id = 0; id < plan.kernels.size(); ++id) {
    const KernelDesc& kernel = plan.kernels[id];
    const KernelView* view = viewOf(subject, kernel);
    if (view == nullptr) continue;
    const Speed speed(view->insight);
    const std::vector<int64_t> values = usualValues(kernel, plan);
    const auto flops = static_cast<double>(kernel.flops.tryEvaluate(values).value_or(0));
    const auto bytes = static_cast<double>(kernel.bytes.tryEvaluate(values).value_or(0));
    if (flops <= 0 || bytes <= 0 || speed.share <= 0) continue;
    const double most = flops / view->insight.rooflineNs;
    const std::string time = timeCell(speed.known()).text();
    scatter.points.push_back({kernel.name + ": " + shareCell(speed.share).text() + " of the roofline, " +
                                  (speed.measured > 0 ? "measured " : "predicted ") + time,
                              std::to_string(id) + " " + labelOf(plan, id), flops / bytes, most * speed.share, most,
                              total > 0 ? times[id] / total : 0, kernelAnchor(id)});
  }
  return scatter;
}

}  // namespace svod
