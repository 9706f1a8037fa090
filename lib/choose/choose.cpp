#include "choose/choose.h"

#include "choose/strategies.h"

namespace svod {

namespace {

void runAll(std::span<const Strategy> steps, Chooser& c) {
  for (const Strategy& step : steps)
    if (step.fits(c.facts(), c.caps)) step.run(c);
}

// What the strategy makes of a kernel that is prepared, if the kernel is one for it.
std::optional<Choice> choiceOf(const Strategy& strategy, const Chooser& prepared) {
  if (!strategy.fits(prepared.facts(), prepared.caps)) return std::nullopt;
  Chooser seed = prepared;
  if (!strategy.run(seed)) return std::nullopt;
  runAll(finishes(), seed);
  return Choice{seed.pattern(), strategy.name, std::move(seed.opts)};
}

}  // namespace

Choice choose(Graph& graph, UOp sink, const Caps& caps) {
  FactsCache cache;
  Chooser prepared{graph, sink, caps, cache, sink, LoopNames(sink), {}, {}};
  runAll(preparations(), prepared);
  for (const Strategy& strategy : strategies())
    if (std::optional<Choice> choice = choiceOf(strategy, prepared)) return std::move(*choice);
  return {prepared.pattern(), {}, std::move(prepared.opts)};
}

std::vector<Choice> seedsOf(Graph& graph, UOp sink, const Caps& caps) {
  FactsCache cache;
  Chooser prepared{graph, sink, caps, cache, sink, LoopNames(sink), {}, {}};
  runAll(preparations(), prepared);
  std::vector<Choice> seeds;
  for (const Strategy& strategy : strategies())
    if (std::optional<Choice> choice = choiceOf(strategy, prepared)) seeds.push_back(std::move(*choice));
  return seeds;
}

std::vector<OptOp> optsOf(const Choice& choice) {
  std::vector<OptOp> opts;
  for (const ChosenOpt& chosen : choice.opts) opts.push_back(chosen.opt);
  return opts;
}

std::vector<OptOp> chooseOpts(Graph& graph, UOp sink, const Caps& caps) { return optsOf(choose(graph, sink, caps)); }

}  // namespace svod
