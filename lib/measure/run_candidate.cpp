#include "measure/run_candidate.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "measure/loaded.h"
#include "measure/timing.h"

namespace svod {

namespace {

using Json = nlohmann::json;

uint64_t bytesOf(const KernelData& data) {
  uint64_t bytes = 0;
  for (const auto& operand : data.operands) bytes += operand.size();
  return bytes;
}

ChildLimits limitsOf(const KernelData& data, const RunLimits& limits) {
  return {limits.seconds, limits.moreBytes + 4 * bytesOf(data)};
}

/// What a child that said nothing came to.
TrialResult failureOf(const ChildEnd& end, const RunLimits& limits) {
  if (!end.wasForked) return {Outcome::Untried, kNoProcess};
  if (end.timedOut)
    return {Outcome::Hung, "it did not end in " + std::to_string(static_cast<int>(limits.seconds)) + " s"};
  if (end.exitCode == kWrittenOutside) return {Outcome::OutOfBounds, "it touched memory beside a buffer"};
  if (end.exitCode == kWrittenOperand) return {Outcome::OutOfBounds, "it wrote to an operand that it may only read"};
  if (end.exitCode == kNoMemory || end.exitCode == 2 || end.signal == SIGKILL)
    return {Outcome::Memory, "it needs more memory than there is"};
  if (end.exitCode == kNoCode) return {Outcome::CompileFailed, "its code cannot be loaded"};
  return {Outcome::Crashed, end.signal != 0 ? strsignal(end.signal) : "it ended the process"};
}

std::string textOf(const TrialResult& v) {
  Json json = {{"outcome", v.outcome}, {"reason", v.reason}, {"ns", v.nanoseconds},
               {"noise", v.noise},     {"ratio", v.ratio},   {"runs", v.runs}};
  if (v.ulp) json["ulp"] = *v.ulp;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TrialResult resultOf(const Json& json) {
  return {static_cast<Outcome>(json["outcome"].get<int>()),
          json["reason"],
          json["ns"],
          json["noise"],
          json["ratio"],
          json["runs"],
          json.contains("ulp") ? std::optional(json["ulp"].get<double>()) : std::nullopt};
}

/// How many times the data is there, in pages of its own each.
size_t sitesFor(const KernelData& data, const RunConditions& conditions) {
  constexpr uint64_t kMostBytes = uint64_t{8} << 20, kMost = 8;  // that stay in a last level cache
  if (conditions.threads > 1) return 1;                          // which every one would have
  return std::clamp<uint64_t>(kMostBytes / std::max<uint64_t>(bytesOf(data), 1), 1, kMost);
}

/// In the child: what stays from question to question.
class Answering {
 public:
  Answering(const KernelData& data, const RunConditions& conditions) : data_(data), conditions_(conditions) {
    if (conditions.threads == 1) pin();
  }

  TrialResult answer(const Json& json) {
    const CandidateCode code = codeFromText(json["code"]);
    while (workspaces_.size() < sitesFor(data_, conditions_))
      workspaces_.push_back(std::make_unique<Workspace>(data_, code.args, conditions_));
    if (baseline_.empty() && json.contains("baseline")) {
      baselineCode_ = codeFromText(json["baseline"]);
      for (const auto& workspace : workspaces_)
        baseline_.push_back(std::make_unique<Loaded>(baselineCode_, *workspace));
    }
    std::vector<Site> sites;
    for (size_t i = 0; i < (code.layouts.empty() ? workspaces_.size() : 1); ++i)  // copies of operands take long
      sites.push_back(
          {std::make_unique<Loaded>(code, *workspaces_[i]), baseline_.empty() ? nullptr : baseline_[i].get()});
    const Loaded& loaded = *sites[0].candidate;
    const double baselineNs = json["baselineNs"], stopAbove = json["stopAbove"];
    const TrialResult first = firstRunOf(loaded, stopAbove);
    if (first.outcome == Outcome::Slow) return first;
    if (std::optional<std::string> wrong = loaded.wrongValues()) return {Outcome::Wrong, *wrong};
    if (json["compares"]) {
      const double ulp = loaded.error();
      TrialResult result = comparisonOf(sites, baselineNs);
      result.ulp = ulp;
      return result;
    }
    return timesOf(sites, first.nanoseconds, stopAbove, baselineNs);
  }

 private:
  const KernelData& data_;
  RunConditions conditions_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // in other pages each
  CandidateCode baselineCode_;
  std::vector<std::unique_ptr<Loaded>> baseline_;  // in every one of them
};

bool fits(const CandidateCode& code, const RunLimits& limits) { return code.scratchBytes <= limits.moreBytes / 2; }
TrialResult tooMuchScratch() {
  return {Outcome::Memory, "it needs more memory for intermediate values than it may have"};
}

}  // namespace

TrialResult runReference(const CandidateCode& code, KernelData& data, const RunLimits& limits) {
  if (!fits(code, limits)) return tooMuchScratch();
  const ChildEnd end = runInChild(limitsOf(data, limits), [&](const ChildOutput& output) {
    Workspace workspace(data, code.args, {});
    const Loaded loaded(code, workspace);
    loaded.runWatched();
    for (size_t slot = 0; slot < code.args.size(); ++slot)
      if (writes(code.args[slot].mode))
        output.write(std::string(reinterpret_cast<const char*>(loaded.bytes(slot).data()), loaded.bytes(slot).size()));
  });
  if (end.timedOut || end.signal != 0 || end.exitCode != 0 || !end.wasForked) return failureOf(end, limits);
  data.wanted.assign(code.args.size(), {});
  size_t at = 0;
  for (size_t slot = 0; slot < code.args.size(); ++slot) {
    if (!writes(code.args[slot].mode)) continue;
    const auto bytes = std::as_bytes(std::span(end.text)).subspan(at, data.operands[slot].size());
    data.wanted[slot].assign(bytes.begin(), bytes.end());
    at += bytes.size();
  }
  return {};
}

Runner::Runner(const KernelData& data, const RunLimits& limits, const RunConditions& conditions)
    : limits_(limits), child_(limitsOf(data, limits), [&data, conditions]() -> AnsweringChild::Answer {
        return [answering = std::make_shared<Answering>(data, conditions)](const std::string& question) {
          return textOf(answering->answer(Json::parse(question)));
        };
      }) {}

TrialResult Runner::ask(const CandidateCode& code, double stopAbove, bool compares) {
  if (!fits(code, limits_)) return tooMuchScratch();
  Json question = {
      {"code", toText(code)}, {"stopAbove", stopAbove}, {"compares", compares}, {"baselineNs", baselineNs_}};
  if (!baseline_.empty()) question["baseline"] = baseline_;
  const ChildEnd end = child_.ask(question.dump(-1, ' ', false, Json::error_handler_t::replace));
  const Json json = Json::parse(end.text, nullptr, false);
  if (!json.is_object()) return failureOf(end, limits_);
  TrialResult result = resultOf(json);
  if (info(result.outcome).isFailure) child_.end();  // whatever else it wrote to
  return result;
}

TrialResult Runner::setBaseline(const CandidateCode& baseline) {
  baseline_.clear();
  child_.end();
  const TrialResult timed = ask(baseline, 0, false);
  if (timed.outcome == Outcome::Timed) baseline_ = toText(baseline), baselineNs_ = timed.nanoseconds;
  return timed;
}

TrialResult Runner::time(const CandidateCode& code, double stopAbove) { return ask(code, stopAbove, false); }

TrialResult Runner::compare(const CandidateCode& code) {
  if (baseline_.empty()) return {Outcome::CompileFailed, "there is nothing to compare it with"};
  return ask(code, 0, true);
}

}  // namespace svod
