#include "choose/sized_choice.h"

#include <algorithm>
#include <cmath>

#include "choose/chooser.h"
#include "choose/collapse_loops.h"
#include "choose/size_cases.h"
#include "choose/size_points.h"
#include "choose/sized_time.h"
#include "choose/thread_tiles.h"
#include "cost/parameters.h"
#include "opts/replay.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

std::vector<SizedChoice> sizedChoices(Graph& graph, UOp sink, const SizePoints& points, const Caps& caps,
                                      const ChooseWithin& choose, const ChooseOther& otherLanes) {
  std::vector<SizedChoice> found;
  FactsCache cache;
  const Chooser merged = mergedRows(graph, sink, caps, cache);
  // Whether it is legal for all sizes.
  const auto addChoice = [&](size_t number, const Caps& with, Choice choice) {
    choice.opts.insert(choice.opts.begin(), merged.opts.begin(), merged.opts.end());
    shareLargerRun(graph, sink, points, with, choice);
    const auto same =
        std::ranges::find_if(found, [&](const SizedChoice& s) { return optsOf(s.choice) == optsOf(choice); });
    if (same != found.end()) {
      if (points.all()[same->point].isForCase) same->point = number;  // it is for many rows as well
      return true;
    }
    const std::optional<UOp> all = withOpts(graph, sink, choice, caps);
    if (all) found.push_back({std::move(choice), *all, number, {}});
    return all.has_value();
  };
  const auto upTo = [&](size_t number) { return runUpTo(graph, merged.sink, points, points.all()[number], caps); };
  const auto add = [&](size_t number, const Caps& with) {
    return addChoice(number, with, choose(upTo(number), merged.names, with));
  };
  Caps lanesAlone = caps;  // tile units take whole tiles, which no free size promises
  lanesAlone.tiles.clear();
  // What a GPU takes for the few elements of a small run is not predicted: the likely one stands for all.
  const size_t count = caps.workgroups ? 1 : points.all().size();
  for (size_t i = 0; i < count; ++i)
    if (!points.all()[i].isPricedOnly && !add(i, caps) && !caps.tiles.empty()) add(i, lanesAlone);
  // Lanes along rows suit the likely number of them alone.
  if (otherLanes && !caps.workgroups && patternOf(sink) == Pattern::Gemm)
    if (std::optional<Choice> other = otherLanes(upTo(0), merged.names, lanesAlone))
      addChoice(0, lanesAlone, std::move(*other));
  return found;
}

void price(Graph& graph, const SizePoints& points, const Caps& caps, SizedChoice& choice) {
  for (const SizePoint& point : points.all()) {
    choice.times.push_back(timeAt(graph, choice.sink, points, point.sizes, caps));
    if (!point.isForCase) choice.regret += point.weight * std::log(choice.times.back());
  }
}

/// The first, unless another one is clearly better. One for few rows of a product is the best where it is the only one,
/// or where few rows are likely and it saves most of them: a plan has few cases, and those that save little go without.
SizedChoice& bestOf(std::span<SizedChoice> choices, const SizePoints& points) {
  const auto isForCase = [&](const SizedChoice& c) { return points.all()[c.point].isForCase; };
  const auto first = std::ranges::find_if_not(choices, isForCase);
  if (first == choices.end()) return choices[0];
  const auto regretOf = [&](const SizedChoice& c) { return isForCase(c) ? HUGE_VAL : c.regret; };
  SizedChoice& least = *std::ranges::min_element(choices, {}, regretOf);
  const bool isClear = first->regret - least.regret > points.weight() * std::log(parameters::kClearlyBetter);
  SizedChoice& best = isClear ? least : *first;
  if (choices.size() == 1 || !points.all()[0].isForCase) return best;
  const auto likelyTime = [](const SizedChoice& c) { return c.times[0]; };
  SizedChoice& likely = *std::ranges::min_element(choices, {}, likelyTime);
  const double saved = best.times[0] - likely.times[0];
  const bool isFarOff = best.times[0] > parameters::kCaseGain * likely.times[0] && saved < parameters::kCaseLeast;
  return isFarOff ? likely : best;
}

}  // namespace

Chooser mergedRows(Graph& graph, UOp sink, const Caps& caps, FactsCache& cache) {
  Chooser merged(graph, sink, LoopNames(sink), caps, cache);
  if (!caps.workgroups && !merged.facts().reduces.empty()) collapseLoops(merged);
  return merged;
}

UOp runUpTo(Graph& graph, UOp sink, const SizePoints& points, const SizePoint& point, const Caps& caps) {
  return simplifyKernel(graph, points.upTo(graph, sink, point), caps.numerics);
}

void shareLargerRun(Graph& graph, UOp sink, const SizePoints& points, const Caps& caps, Choice& choice) {
  FactsCache cache;
  const UOp larger = runUpTo(graph, sink, points, points.larger(), caps);
  Chooser chooser(graph, larger, LoopNames(sink), caps, cache);
  for (const ChosenOpt& chosen : choice.opts)
    if (chosen.opt.kind != OptKind::Thread && !chooser.apply(chosen.opt.kind, chosen.opt.args, chosen.why)) return;
  splitForThreads(chooser);
  choice.opts = std::move(chooser.opts);
}

std::optional<UOp> withOpts(Graph& graph, UOp sink, const Choice& choice, const Caps& caps) {
  NamedKernel kernel(sink);
  for (const ChosenOpt& chosen : choice.opts) {
    Result<AppliedOpt> applied = tryOpt(graph, kernel, chosen.opt, caps);
    if (!applied) return std::nullopt;
    kernel = std::move(applied->kernel);
  }
  return endOfOpts(graph, kernel.sink, caps);
}

std::optional<Choice> chooseForPoints(Graph& graph, UOp sink, const SizePoints& points, const Caps& caps,
                                      const ChooseWithin& choose, const ChooseOther& otherLanes) {
  std::vector<SizedChoice> choices = sizedChoices(graph, sink, points, caps, choose, otherLanes);
  if (choices.empty()) return std::nullopt;
  if (choices.size() > 1)
    for (SizedChoice& choice : choices) price(graph, points, caps, choice);
  SizedChoice& best = bestOf(choices, points);
  best.choice.pattern = patternOf(sink);
  if (choices.size() > 1) best.choice.cases = casesBeside(graph, points, choices, best, caps);
  best.choice.why += (best.choice.why.empty() ? "for " : "; for ") + points.toText(points.all()[best.point]);
  return std::move(best.choice);
}

}  // namespace svod
