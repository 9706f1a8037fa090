#include <algorithm>
#include <map>

#include "report/plan_text.h"
#include "report/report.h"
#include "report/speed.h"

namespace svod {

namespace {

/// Colors for the kernels that take most of the time; the rest shares one.
std::map<KernelId, size_t> colorsOf(const std::map<KernelId, double>& times) {
  std::vector<std::pair<double, KernelId>> order;
  for (const auto& [kernel, time] : times) order.emplace_back(-time, kernel);
  std::ranges::sort(order);
  std::map<KernelId, size_t> colors;
  for (size_t i = 0; i < order.size(); ++i) colors[order[i].second] = std::min(i, Chart::kOtherColor);
  return colors;
}

const Launch* launchOf(const Plan& plan, size_t step) { return std::get_if<Launch>(&plan.steps[StepId(step)].action); }

struct Piece {
  size_t step;
  double start, end;
  uint32_t row;
};

/// Steps one after the other, as long as they take by themselves.
std::vector<Piece> inOrder(const Subject& subject) {
  const std::vector<double> times = timesOf(*subject.plan);
  std::vector<Piece> pieces;
  double at = 0;
  for (StepId i = 0; i < subject.plan->steps.size(); ++i) {
    const double time = times[i] * knownNs(subject, subject.plan->steps[i]);
    if (time > 0) pieces.push_back({i, at, at + time, 0});
    at += time;
  }
  return pieces;
}

/// Parts of a step that one thread ran one after the other are one piece: a page with each tile would be large.
std::vector<Piece> joined(const std::vector<TracedPart>& events) {
  std::vector<Piece> pieces;
  std::map<uint32_t, size_t> lastOf;  // piece of each thread
  for (const TracedPart& e : events) {
    const auto found = lastOf.find(e.thread);
    if (found != lastOf.end()) {
      Piece& last = pieces[found->second];
      if (last.step == e.step && e.start - last.end < 0.02 * (e.end - last.start)) {
        last.end = std::max(last.end, e.end);
        continue;
      }
    }
    lastOf[e.thread] = pieces.size();
    pieces.push_back({e.step, e.start, e.end, e.thread});
  }
  return pieces;
}

}  // namespace

Section timeLineOf(const Subject& subject) {
  const Plan& plan = *subject.plan;
  const bool wasTraced = !subject.events.empty();
  const std::vector<Piece> pieces = wasTraced ? joined(subject.events) : inOrder(subject);
  Section section{"time", "Time line"};
  if (pieces.empty()) return section;
  std::map<KernelId, double> times;
  uint32_t threads = 1;
  double end = 0;
  for (const Piece& p : pieces) {
    if (const Launch* launch = launchOf(plan, p.step)) times[launch->kernel] += p.end - p.start;
    threads = std::max(threads, p.row + 1), end = std::max(end, p.end);
  }
  const bool wasMeasured =
      std::ranges::any_of(subject.kernels, [](const KernelView& k) { return k.insight.measuredNs > 0; });
  Chart chart{wasTraced ? "One run, as it was traced"
              : wasMeasured
                  ? "Steps one after the other, each as long as its kernel was measured to take, over all threads"
                  : "Steps one after the other, each as long as its kernel is predicted to take on one thread",
              "time",
              "",
              end,
              static_cast<double>(threads),
              Chart::Unit::Nanoseconds};
  for (uint32_t thread = 0; thread < threads; ++thread)
    chart.rows.push_back(wasTraced ? "worker " + std::to_string(thread) : "steps");
  const std::map<KernelId, size_t> colors = colorsOf(times);
  for (const Piece& p : pieces) {
    const Launch* launch = launchOf(plan, p.step);
    const std::string name = labelOf(plan, plan.steps[StepId(p.step)]);
    const double row = p.row;
    chart.boxes.push_back(
        {"step " + std::to_string(p.step) + ", " + name + ": " + timeCell(p.end - p.start).text(), name, p.start, p.end,
         row + 0.06, row + 0.94, launch == nullptr ? Chart::kOtherColor : colors.at(launch->kernel),
         launch == nullptr ? std::string(kStepAnchor) + std::to_string(p.step) : kernelAnchor(launch->kernel)});
  }
  section.blocks.push_back(std::move(chart));
  return section;
}

}  // namespace svod
