#include "explain.h"

#include <nlohmann/json.hpp>

#include "cost/predict.h"
#include "data/mapped_file.h"
#include "opts/replay.h"
#include "report/plan_text.h"

namespace svod {

namespace {

using Json = nlohmann::json;

double numberIn(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

Work workOf(const KernelDesc& kernel, const Plan& plan) {
  const std::vector<int64_t> values = largestValues(kernel, plan);
  auto most = [&](const Expr& expr) { return static_cast<double>(expr.tryEvaluate(values).value_or(0)); };
  return {most(kernel.flops), most(kernel.bytes)};
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
  if (!kernel.ast) return;
  caps.overwrites = !kernel.inPlace.empty(), caps.constants = kernel.constants;
  NamedKernel named(kernel.ast);
  insight.scheduled = named.names.describe(named.sink);
  for (const OptOp& opt : optsOf(kernel.choice)) {
    Result<AppliedOpt> applied = applyOpt(*kernel.graph, named, opt, caps);
    if (!applied) return;
    named = std::move(applied->kernel);
  }
  insight.optimized = named.names.describe(named.sink) + expandedText(named.sink);
}

}  // namespace

Result<Profile> readProfile(const std::string& path) {
  Profile profile;
  if (path.empty()) return profile;
  SVOD_TRY(const std::string text, readWholeFile(path));
  const Json json = Json::parse(text, nullptr, false);
  const auto rows = json.is_object() ? json.find("profile") : json.end();
  if (!json.is_object() || rows == json.end() || !rows->is_array())
    return fail(Diag::Usage, "'" + path + "' is no profile", "make one with: svod-run PLAN --json > FILE");
  for (const Json& row : *rows) {
    const auto name = row.is_object() ? row.find("name") : row.end();
    if (!row.is_object() || name == row.end() || !name->is_string()) continue;
    profile[name->get<std::string>()] = {numberIn(row, "calls"), numberIn(row, "busyNs"), numberIn(row, "flops"),
                                         numberIn(row, "bytes")};
  }
  return profile;
}

KernelInsight insightOf(const KernelDesc& kernel, const Profile& profile) {
  KernelInsight insight;
  const auto found = profile.find(kernel.name);
  if (found != profile.end() && found->second.calls > 0)
    insight.measuredNs = found->second.busyNs / found->second.calls;
  return insight;
}

KernelInsight insightOf(const CompiledKernel& kernel, const BuildResult& build, const Profile& profile) {
  Caps caps = build.options.target->caps(build.options.machine, build.options.numerics);
  caps.constants = kernel.constants;
  const Prediction prediction = predict(kernel.optimized, workOf(kernel.desc, build.compilation->plan), caps);
  KernelInsight insight = insightOf(kernel.desc, profile);
  insight.pattern = info(kernel.choice.pattern).name;
  insight.patternWhat = info(kernel.choice.pattern).what;
  insight.strategy = nameOf(kernel.choice);
  for (const ChosenOpt& chosen : kernel.choice.opts) insight.opts.emplace_back(toText(chosen.opt), chosen.why);
  insight.chosen = kernel.choice.why;
  addSeeds(insight, kernel, caps);
  nameLoops(insight, kernel, caps);
  insight.predictedNs = prediction.expected;
  insight.rooflineNs = prediction.roofline;
  insight.limit = toText(prediction.limit);
  if (insight.measuredNs > 0) {
    const MeasuredKernel& m = profile.at(kernel.desc.name);
    insight.measuredRooflineNs = rooflineNanoseconds(kernel.optimized, {m.flops / m.calls, m.bytes / m.calls}, caps);
  }
  return insight;
}

}  // namespace svod
