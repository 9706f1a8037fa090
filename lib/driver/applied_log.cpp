#include "driver/applied_log.h"

#include <map>
#include <optional>
#include <tuple>

#include "driver/kernel_job.h"
#include "driver/tuned_opts.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "tuning/all_winners.h"

namespace svod {

namespace {

constexpr std::string_view kBeforeOpts = "split-ranges";  // the pass before apply-opts

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
std::string whyNot(const Winner& winner, const std::string& kernel, const TunedTarget& place) {
  if (const auto parsed = parseOpts(winner.opts); !parsed) return parsed.error()->message;
  Graph graph;
  const Result<UOp> sink = parseUop(graph, kernel);
  if (!sink || !verify(*sink, Stage::Kernel)) return "";  // anyone may have written it
  KernelJob job = kernelJob(*place.target, place.machine, place.numerics, 1);
  PassLog log;
  PassOptions options;
  options.stopAfter = kBeforeOpts;
  PassContext cx{graph, log, options, "kernel", place.numerics, {}};
  cx.data.put(job);
  const Result<UOp> simple = runPipeline(kernelPasses(*place.target), *sink, cx);
  if (!simple) return simple.error()->message;
  const auto opts = applicable(graph, *simple, winner, job.caps, job.mostInstructions);
  return opts ? "" : opts.error()->message;
}

using CandidateKey = std::tuple<std::string, std::string, std::string>;  // kernel, target, opts

/// Winners that failed, with the reason.
void fail(TuningLog& log, const std::map<CandidateKey, std::string>& failed) {
  for (CandidateRecord& r : log.candidates) {
    if (r.outcome != Outcome::Wins) continue;
    if (const auto found = failed.find({r.kernel, r.target, r.opts}); found != failed.end())
      r.outcome = Outcome::CompileFailed, r.reason = "it does not apply: " + found->second;
  }
}

}  // namespace

AppliedLog appliedLog(TuningLog log, std::string_view compiler) {
  std::vector<AppliedLog::Passed> passed;
  std::map<std::string_view, const KernelRecord*> kernels;
  for (const KernelRecord& r : log.kernels) kernels.try_emplace(r.kernel, &r);
  std::map<CandidateKey, std::string> failed;
  for (std::vector<Winner>& winners : allWinners(log, compiler)) {
    const auto kernel = kernels.find(winners.front().kernel);
    const std::optional<TunedTarget> place = targetOf(winners.front().target);
    if (kernel == kernels.end() || !place) continue;
    for (Winner& winner : winners) {
      const std::string reason = whyNot(winner, kernel->second->text, *place);
      if (reason.empty()) break;
      failed[{winner.kernel, winner.target, winner.opts}] = reason;
      passed.push_back({std::move(winner), reason});
    }
  }
  fail(log, failed);
  return {std::move(log), std::move(passed)};
}

}  // namespace svod
