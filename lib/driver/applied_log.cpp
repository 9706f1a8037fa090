#include "driver/applied_log.h"

#include <algorithm>
#include <optional>

#include "driver/kernel_job.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace svod {

namespace {

/// What tuningTarget() (tuned_opts.h) names.
struct TunedTarget {
  const Target* target;
  Machine machine;
  Numerics numerics;
};

std::optional<TunedTarget> targetOf(std::string_view text) {
  const size_t first = text.find(' '), last = text.rfind(' ');
  if (first == last) return std::nullopt;
  const Result<const Target*> target = targetByName(text.substr(0, first));
  const std::optional<Numerics> numerics = numericsFromText(text.substr(last + 1));
  if (!target || !numerics) return std::nullopt;
  std::string_view triple, processor = text.substr(first + 1, last - first - 1);
  if (const size_t space = processor.find(' '); space != processor.npos)
    triple = processor.substr(0, space), processor.remove_prefix(space + 1);
  Result<Machine> machine = (*target)->machine(triple, processor);
  if (!machine) return std::nullopt;
  return TunedTarget{*target, machineFor(std::move(*machine), *numerics), *numerics};
}

/// Why the opts of a winner do not apply; empty where they do. Which operands are weights, and whether the result lies
/// on one, no log says: without that opts are refused for less.
std::string whyNot(const std::string& opts, const std::string& kernel, const TunedTarget& place) {
  const Result<std::vector<OptOp>> parsed = parseOpts(opts);
  if (!parsed) return parsed.error()->message;
  Graph graph;
  const Result<UOp> sink = parseUop(graph, kernel);
  if (!sink || !verify(*sink, Stage::Kernel)) return "";  // anyone may have written it
  KernelJob job = kernelJob(*place.target, place.machine, place.numerics, 1);
  job.requested = *parsed;
  PassLog log;
  PassOptions options;
  options.stopAfter = "apply-opts";
  PassContext cx{graph, log, options, "kernel", place.numerics, {}};
  cx.data.put(job);
  const Result<UOp> applied = runPipeline(place.target->passes(), *sink, cx);
  return applied ? "" : applied.error()->message;
}

void fail(TuningLog& log, const Winner& winner, const std::string& reason) {
  for (CandidateRecord& r : log.candidates)
    if (r.kernel == winner.kernel && r.target == winner.target && r.opts == winner.opts && r.outcome == Outcome::Wins)
      r.outcome = Outcome::CompileFailed, r.reason = reason;
}

}  // namespace

AppliedLog appliedLog(TuningLog log, std::string_view compiler) {
  std::vector<AppliedLog::Passed> passed;
  for (const Winner& best : bestOf(log, compiler)) {
    const auto kernel = std::ranges::find(log.kernels, best.kernel, &KernelRecord::kernel);
    const std::optional<TunedTarget> place = targetOf(best.target);
    if (kernel == log.kernels.end() || !place) continue;
    for (Winner& winner : winnersOf(log, best.kernel, best.target, compiler)) {
      const std::string reason = whyNot(winner.opts, kernel->text, *place);
      if (reason.empty()) break;
      fail(log, winner, "it does not apply: " + reason);
      passed.push_back({std::move(winner), reason});
    }
  }
  return {std::move(log), std::move(passed)};
}

}  // namespace svod
