#include "tune/log_use.h"

#include <algorithm>
#include <map>

namespace svod {

namespace {

/// Why opts of a log were not taken, by a word for programs.
struct Unused {
  std::string_view reason, message;
};
constexpr Unused kNotAsked{"not-asked", "opts given in another way"};
constexpr Unused kNoRecord{"no-record", "no record"};
constexpr Unused kOtherVersion{"other-version", "no record: the log was written by another svodc"};
constexpr Unused kOtherProcessor{"other-processor", "records for other processors alone"};
constexpr Unused kNotFaster{"not-faster", "nothing that is faster than -O1"};
constexpr Unused kNotApplicable{"not-applicable", "no winner that applies"};
constexpr Unused kUsed{"", ""};

/// Whether any record was made by this compiler.
bool hasOwn(const TuningLog& log, const std::string& compiler) {
  const auto isOwn = [&](const auto& r) { return r.compiler == compiler; };
  return log.candidates.empty() || std::ranges::any_of(log.candidates, isOwn) || std::ranges::any_of(log.plans, isOwn);
}

const Unused& whyUnused(LogKnows known, bool hasWinners, bool isUsed, bool isOwn) {
  if (isUsed) return kUsed;
  if (known == LogKnows::NotAsked) return kNotAsked;
  if (known == LogKnows::Nothing) return isOwn ? kNoRecord : kOtherVersion;
  if (known == LogKnows::OtherTargets) return kOtherProcessor;
  return hasWinners ? kNotApplicable : kNotFaster;
}

void add(TuningUse& use, const CompiledKernel& kernel, bool isOwn) {
  if (kernel.name.empty()) return;
  const bool isUsed = kernel.tuned.size() > kernel.passed.size();
  const Unused& why = whyUnused(kernel.known, !kernel.tuned.empty(), isUsed, isOwn);
  TunedKernelUse made{kernel.name, std::string(why.reason), std::string(why.message), false, {}};
  if (isUsed) made.isHint = kernel.tuned[kernel.passed.size()].isHint, ++use.used, use.hints += made.isHint;
  for (size_t i = 0; i < std::min(kernel.passed.size(), kernel.tuned.size()); ++i)
    made.passed.push_back("'" + kernel.tuned[i].opts.substr(0, 200) + "': " + kernel.passed[i]);
  use.kernels.push_back(std::move(made));
}

std::string counted(size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

/// "1 kernel: no record".
std::string unusedText(const TuningUse& use) {
  std::map<std::string, size_t> counts;
  for (const TunedKernelUse& k : use.kernels)
    if (!k.reason.empty()) ++counts[k.message];
  std::string text;
  for (const auto& [message, count] : counts)
    text += (text.empty() ? "" : "; ") + counted(count, "kernel") + ": " + message;
  return text;
}

}  // namespace

TuningUse tuningUse(const Compilation& c, const TuningLog& log, const std::string& compiler) {
  const bool isOwn = hasOwn(log, compiler);
  TuningUse use;
  for (const CompiledKernel& kernel : c.kernels) add(use, kernel, isOwn);
  for (const CompiledVariant& variant : c.variants)
    for (const CompiledKernel& kernel : variant.kernels) add(use, kernel, isOwn);
  use.decisions = c.tuned, use.decisionsPassed = c.passed;
  use.graphReason = whyUnused(c.known, !c.passed.empty(), c.tuned > 0, isOwn).reason;
  return use;
}

std::vector<Error> passedOver(const TuningUse& use, const std::string& path) {
  std::vector<Error> warnings;
  const auto warn = [&](const std::string& what, const std::string& of) {
    warnings.emplace_back(Diag::BadOpt, "a winner of '" + path + "' is passed over: " + what,
                          "it is for " + of + ", which takes the next one, or what -O1 chooses");
  };
  for (const TunedKernelUse& kernel : use.kernels)
    for (const std::string& passed : kernel.passed) warn(passed, "kernel " + kernel.kernel);
  for (const std::string& passed : use.decisionsPassed) warn(passed, "the graph");
  return warnings;
}

Status checkUsed(const TuningUse& use, const std::string& path) {
  if (use.used > 0 || use.decisions > 0) return {};
  return fail(Diag::BadOpt, "nothing of '" + path + "' was used: " + unusedText(use),
              "tune this graph for this processor, or leave --tuning-required out");
}

std::string toText(const TuningUse& use, const std::string& path) {
  std::string text = path + ": opts of " + std::to_string(use.used) + " of " + counted(use.kernels.size(), "kernel");
  if (use.hints > 0) text += " (" + std::to_string(use.hints) + " found with another svodc)";
  text += ", " + counted(use.decisions, "decision");
  const std::string unused = unusedText(use);
  return text + (unused.empty() ? "" : "; " + unused) + "\n";
}

Section sectionOf(const TuningUse& use) {
  Table unused{"unused", {{"kernel", "kernel"}, {"reason", "reason"}, {"message", "why"}}, {}};
  Table passed{"passed", {{"kernel", "kernel"}, {"message", "why"}}, {}};
  for (const TunedKernelUse& k : use.kernels) {
    if (!k.reason.empty()) unused.rows.push_back({k.kernel, k.reason, k.message});
    for (const std::string& each : k.passed) passed.rows.push_back({k.kernel, each});
  }
  for (const std::string& each : use.decisionsPassed) passed.rows.push_back({"", each});
  const FactList facts = {{"kernels", "kernels", use.kernels.size()},
                          {"used", "with opts of the log", use.used},
                          {"hints", "of those found with another svodc", use.hints},
                          {"decisions", "decisions of the log", use.decisions},
                          {"graphReason", "why there are none", use.graphReason}};
  return {"tuning", "The tuning log", {facts, unused, passed}};
}

}  // namespace svod
