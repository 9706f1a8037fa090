#include "explain.h"

#include "choose/choose.h"
#include "cost/levels.h"
#include "cost/predict.h"
#include "driver/tuned_opts.h"
#include "explain_gpu.h"
#include "opts/replay.h"
#include "report/plan_text.h"

namespace svod {

namespace {

Work workOf(const KernelDesc& kernel, const Plan& plan) {
  const std::vector<int64_t> values = usualValues(kernel, plan);
  const auto usual = [&](const Expr& expr) { return static_cast<double>(expr.tryEvaluate(values).value_or(0)); };
  return {usual(kernel.flops), usual(kernel.bytes)};
}

/// Loops that are written out or run in lanes: `, vector 16`. No opt can name them.
std::string expandedText(UOp sink) {
  std::string text;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range && isExpanded(axisType(n)))
      text += ", " + std::string(toText(axisType(n))) + " " + std::to_string(maxExtent(n));
  return text;
}

std::string nameOf(const Choice& seed) {
  return std::string(seed.strategy) + (seed.branch.empty() ? "" : ", other " + std::string(seed.branch));
}

/// What all strategies make of it, whichever list was asked for.
void addSeeds(KernelInsight& insight, const CompiledKernel& kernel, Caps caps) {
  if (!kernel.unopted) return;
  caps.overwrites = !kernel.inPlace.empty();
  for (const PricedSeed& seed : seedsOf(*kernel.graph, kernel.unopted, caps))
    insight.seeds.push_back({nameOf(seed.choice), toText(optsOf(seed.choice)), seed.nanoseconds});
}

/// The loops of a kernel by the names that --opts takes, before and after its opts.
void nameLoops(KernelInsight& insight, const CompiledKernel& kernel, Caps caps) {
  if (!kernel.unopted) return;
  caps.overwrites = !kernel.inPlace.empty(), caps.constants = kernel.constants;
  NamedKernel named(kernel.unopted);
  insight.scheduled = named.names.describe(named.sink);
  for (const OptOp& opt : optsOf(kernel.choice)) {
    Result<AppliedOpt> applied = applyOpt(*kernel.graph, named, opt, caps);
    if (!applied) return;
    named = std::move(applied->kernel);
  }
  insight.optimized = named.names.describe(named.sink) + expandedText(named.sink);
}

}  // namespace

KernelInsight insightOf(const KernelDesc& kernel, const Measurements& profile) {
  KernelInsight insight;
  const auto found = profile.kernels.find(kernel.name);
  if (found != profile.kernels.end() && found->second.calls > 0)
    insight.measuredNs = found->second.busyNs / found->second.calls;
  return insight;
}

KernelInsight insightOf(const CompiledKernel& kernel, const CompileOptions& options, const BuildResult& build,
                        const Measurements& profile) {
  Caps caps = options.target->caps(options.machine, options.numerics);
  caps.constants = kernel.constants;
  const UOp likely = atLikelySizes(*kernel.graph, kernel.optimized, caps);
  const Prediction prediction = predict(likely, workOf(kernel.desc, build.compilation->plan), caps);
  KernelInsight insight = insightOf(kernel.desc, profile);
  insight.pattern = info(kernel.choice.pattern).name;
  insight.patternWhat = info(kernel.choice.pattern).what;
  insight.strategy = nameOf(kernel.choice);
  for (const ChosenOpt& chosen : kernel.choice.opts) insight.opts.emplace_back(toText(chosen.opt), chosen.why);
  insight.chosen = kernel.choice.why;
  insight.tuningHash = tuningHash(kernel);
  addSeeds(insight, kernel, caps);
  nameLoops(insight, kernel, caps);
  if (kernel.desc.grid) {
    addUnits(insight, kernel.desc, build.compilation->files);
    addText(insight, kernel);
  }
  insight.predictedNs = prediction.expected;
  insight.rooflineNs = prediction.roofline;
  insight.limit = toText(prediction.limit);
  if (insight.measuredNs > 0) {
    const MeasuredKernel& m = profile.kernels.at(kernel.desc.name);
    Work work{m.flops / m.calls, m.bytes / m.calls};
    if (m.flops + m.bytes == 0 && kernel.desc.flops.constant() && kernel.desc.bytes.constant())
      work = workOf(kernel.desc, build.compilation->plan);  // of a trace, which does not say it
    if (work.flops + work.bytes > 0) insight.measuredRooflineNs = rooflineNanoseconds(kernel.optimized, work, caps);
  }
  return insight;
}

CoreLimits coreLimitsOf(const BuildResult& build) {
  const Caps caps = build.options.target->caps(build.options.machine, build.options.numerics);
  constexpr double kBytesOfF32 = 4;
  if (caps.memoryMBs <= 0 || caps.vectorBytes <= 0 || caps.fmaPerCycle <= 0) return {};
  const double cycle = nanosecondsOf(1, caps), lanes = static_cast<double>(caps.vectorBytes) / kBytesOfF32;
  return {static_cast<double>(caps.memoryMBs) / 1e3, static_cast<double>(caps.vectorBytes) / cycle,
          2.0 * static_cast<double>(caps.fmaPerCycle) * lanes / cycle};
}

}  // namespace svod
