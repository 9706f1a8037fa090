#include "tune/plans_in_turns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "measure/child.h"
#include "measure/sequential_test.h"
#include "tune/budget.h"
#include "tune/running_plan.h"
#include "verify/certainty.h"

namespace svod {

namespace {

using Json = nlohmann::json;

constexpr double kSampleNs = 1e6;  // of a plan that takes less, several runs are one sample
constexpr double kGain = 0.98;     // of the time: what a plan must gain
constexpr double kEven = 1;        // what a kernel must gain that won on its own
constexpr double kLoss = 0.99;     // of its time, that the other plan takes where a whole plan has clearly lost
constexpr size_t kWarmPairs = 60, kColdPairs = 15;
constexpr size_t kLeastPairs = 10;     // fewer tell no clear loss
constexpr double kMostSeconds = 30;    // of pairs, without which a plan has lost
constexpr double kSecondsOfPair = 60;  // that two runs may take
constexpr uint64_t kMoreBytes = uint64_t{16} << 30;
constexpr double kPartOfLargest = 1e-3;  // that floats may differ by: plans add in other orders, layer by layer

struct PoolEnd {
  void operator()(svod_pool* pool) const { svod_pool_free(pool); }
};

/// What is wrong with the results of the candidate. Integers that depend on floats may differ anywhere.
std::string differenceOf(const PlanPair& pair, const std::vector<HostTensor>& got,
                         const std::vector<HostTensor>& wanted) {
  const std::vector<Certainty> certainty = certainties(pair.model, pair.numerics);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string& name = pair.candidate.plan.outputs[i].name;
    Certainty known = Certainty::Free;
    for (size_t p = 0; p < pair.model.ports.size(); ++p)
      if (pair.model.ports[p].kind == PortKind::Output && pair.model.ports[p].name == name) known = certainty[p];
    const bool floats = isFloat(wanted[i].dtype);
    if (known != Certainty::Free && got[i].data != wanted[i].data) return "output '" + name + "' differs";
    if (known != Certainty::Free || !floats) continue;
    double largest = 1e-30, most = 0;
    for (int64_t e = 0; e < wanted[i].numel(); ++e) {
      const double a = wanted[i].at(e).asFloat(), b = got[i].at(e).asFloat();
      if (std::isfinite(a)) largest = std::max(largest, std::abs(a));
      if (std::isfinite(a) != std::isfinite(b)) return "output '" + name + "' is not finite where it should be, or is";
      if (std::isfinite(a)) most = std::max(most, std::abs(a - b));
    }
    const double unit = std::ldexp(1.0, -info(wanted[i].dtype).fractionBits);
    if (most > largest * std::max(kPartOfLargest, 256 * unit))
      return "output '" + name + "' is off by " + std::to_string(std::llround(most / (largest * unit))) +
             " units of the last place of its greatest value";
  }
  return "";
}

/// In the child: both plans, ready to run.
class TwoPlans {
 public:
  TwoPlans(const PlanPair& pair, const ChildOutput& output, bool profiles)
      : pair_(pair), output_(output), profiles_(profiles), pool_(svod_pool_create(0)) {}

  Status begin() {
    if (!pool_) return fail(Diag::Unsupported, "the system grants no threads", "");
    SVOD_TRY(candidate_, RunningPlan::make(pair_.model, pair_.candidate, pool_.get(), profiles_, pair_.variablesAt));
    SVOD_TRY(other_, RunningPlan::make(pair_.otherModel, pair_.other, pool_.get(), profiles_, pair_.variablesAt));
    SVOD_CHECK(other_->run());
    SVOD_CHECK(candidate_->run());
    return {};
  }
  std::string difference() const { return differenceOf(pair_, candidate_->results(), other_->results()); }

  /// The ratio of one sample of each, in an order that changes; threads and caches are warm from the run before.
  Result<double> pair(bool isCold) {
    const bool isFirst = number_++ % 2 == 0;
    double own = 0, others = 0;
    for (bool ofCandidate : {isFirst, !isFirst}) {
      SVOD_TRY((ofCandidate ? own : others), sample(ofCandidate ? *candidate_ : *other_, isCold));
      output_.write(" ");  // still alive
    }
    if (!isCold) warmOthers_.push_back(others);
    return own / others;
  }
  /// How many runs are one sample, from a run that is not counted.
  Status settle() {
    SVOD_TRY(const double once, other_->nanosecondsOf(1));
    otherNs_ = once;
    runs_ = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(kSampleNs / std::max(once, 1.0))), 1, 10000);
    return {};
  }
  double otherNs() const { return otherNs_; }
  /// The median of its samples with warm caches.
  double otherMedian() {
    const auto middle = warmOthers_.begin() + static_cast<std::ptrdiff_t>(warmOthers_.size() / 2);
    std::ranges::nth_element(warmOthers_, middle);
    return warmOthers_.empty() ? otherNs_ : *middle;
  }
  int64_t runs() const { return runs_; }
  RunningPlan& candidate() { return *candidate_; }
  RunningPlan& other() { return *other_; }

 private:
  Result<double> sample(RunningPlan& plan, bool isCold) {
    if (!isCold) return plan.nanosecondsOf(runs_);
    plan.coolDown();
    return plan.nanosecondsOf(1);
  }

  const PlanPair& pair_;
  const ChildOutput& output_;
  bool profiles_;
  std::unique_ptr<svod_pool, PoolEnd> pool_;
  std::unique_ptr<RunningPlan> candidate_, other_;
  int64_t runs_ = 1, number_ = 0;
  double otherNs_ = 0;
  std::vector<double> warmOthers_;
};

Json jsonOf(const TrialResult& v) {
  return {{"outcome", v.outcome}, {"reason", v.reason}, {"ns", v.nanoseconds},
          {"noise", v.noise},     {"ratio", v.ratio},   {"runs", v.runs}};
}

std::string percent(double ratio) { return std::to_string(std::lround(100 * ratio)) + " %"; }

Result<TrialResult> compared(TwoPlans& turns) {
  if (std::string wrong = turns.difference(); !wrong.empty()) return TrialResult{Outcome::Wrong, std::move(wrong)};
  SVOD_CHECK(turns.settle());
  SequentialTest warm(kGain), cold(kEven, kColdPairs);
  const TuneClock::time_point deadline = afterSeconds(TuneClock::now(), kMostSeconds);
  while (!warm.isOver() && (warm.pairs() < kLeastPairs || TuneClock::now() < deadline)) {
    SVOD_TRY(const double ratio, turns.pair(false));
    warm.add(ratio);
  }
  TrialResult verdict{
      warm.wins() ? Outcome::Wins : Outcome::Loses,     "", turns.otherNs() * warm.ratio(), warm.noise(), warm.ratio(),
      turns.runs() * static_cast<int64_t>(warm.pairs())};
  if (!warm.wins()) return verdict;
  while (!cold.isOver() && (cold.pairs() < kLeastPairs || TuneClock::now() < deadline)) {
    SVOD_TRY(const double ratio, turns.pair(true));
    cold.add(ratio);
  }
  if (!outweighs(warm, cold)) return verdict;
  verdict.outcome = Outcome::Loses, verdict.reason = "with cold caches it takes " + percent(cold.ratio());
  return verdict;
}

ChildEnd inChild(const PlanPair& pair, bool profiles, const std::function<Result<Json>(TwoPlans&)>& work) {
  return runInChild({kSecondsOfPair, kMoreBytes}, [&](const ChildOutput& output) {
    TwoPlans turns(pair, output, profiles);
    Status begun = turns.begin();
    const Result<Json> done = begun ? work(turns) : fail(begun.error());
    const Json said = done ? *done : Json{{"problem", done.error()->message}};
    output.write("\n" + said.dump(-1, ' ', false, Json::error_handler_t::replace));
  });
}

std::string howItEnded(const ChildEnd& end) {
  if (!end.wasForked) return "the system grants no process";
  if (end.timedOut) return "it did not end in " + std::to_string(static_cast<int>(kSecondsOfPair)) + " s";
  return end.signal != 0 ? strsignal(end.signal) : "it ended the process";
}

/// What the child said last. No object where it said nothing.
Json saidBy(const ChildEnd& end) {
  const size_t line = end.text.rfind('\n');
  return line == std::string::npos ? Json() : Json::parse(end.text.substr(line + 1), nullptr, false);
}

/// Warm or cold pairs of all kernels at once, until nobody wants more.
struct KernelTests {
  std::map<std::string, SequentialTest> byName;
  std::map<std::string, double> otherNs;  // of all runs
  BothWays whole;
  size_t most;

  explicit KernelTests(size_t pairs) : whole(kEven, kLoss, pairs), most(pairs) {}
  void add(const std::map<std::string, double>& own, const std::map<std::string, double>& others) {
    for (const auto& [name, time] : own)
      if (const auto found = others.find(name); found != others.end() && time > 0 && found->second > 0) {
        byName.try_emplace(name, kEven, most).first->second.add(time / found->second);
        otherNs[name] += found->second;
      }
  }
  bool wantsMore(bool profiles) const { return profiles ? whole.gain.pairs() < most : !whole.loss.isOver(); }
};

Result<KernelTests> timed(TwoPlans& turns, bool isCold, bool profiles, TuneClock::time_point deadline) {
  KernelTests tests(isCold ? kColdPairs : kWarmPairs);
  turns.candidate().kernelTimes(), turns.other().kernelTimes();
  while (tests.wantsMore(profiles) && (tests.whole.gain.pairs() < kLeastPairs || TuneClock::now() < deadline)) {
    SVOD_TRY(const double ratio, turns.pair(isCold));
    tests.whole.add(ratio);
    tests.add(turns.candidate().kernelTimes(), turns.other().kernelTimes());
  }
  return tests;
}

/// [warm, cold, gained, slower, told], where `runs` are those of a pair with warm caches.
Json kernelJson(const std::string& name, const KernelTests& warm, const KernelTests& cold, int64_t runs) {
  const SequentialTest& test = warm.byName.at(name);
  const auto found = cold.byName.find(name);
  const SequentialTest none(kEven, 0), &other = found == cold.byName.end() ? none : found->second;
  const std::optional<bool> slower = isSlower(test, other);
  const double each = warm.otherNs.at(name) / static_cast<double>(static_cast<int64_t>(test.pairs()) * runs);
  return {test.ratio(), other.ratio(), (1 - test.ratio()) * each, slower.value_or(false), slower.has_value()};
}

KernelsInPlan timedInPlans(const PlanPair& pair, bool profiles, double seconds) {
  const TuneClock::time_point start = TuneClock::now();
  const ChildEnd end = inChild(pair, profiles, [&](TwoPlans& turns) -> Result<Json> {
    SVOD_CHECK(turns.settle());
    SVOD_TRY(const KernelTests warm, timed(turns, false, profiles, afterSeconds(start, seconds / 2)));
    SVOD_TRY(const KernelTests cold, timed(turns, true, profiles, afterSeconds(start, seconds)));
    Json kernels = Json::object();
    for (const auto& [name, test] : warm.byName) kernels[name] = kernelJson(name, warm, cold, turns.runs());
    const SequentialTest &gain = warm.whole.gain, &coldGain = cold.whole.gain;
    return Json{{"kernels", kernels},
                {"warm", gain.ratio()},
                {"cold", coldGain.ratio()},
                {"slower", isClearlySlower(warm.whole, cold.whole)},
                {"noFaster", gain.loses() || (coldGain.loses() && outweighs(gain, coldGain))},
                {"ns", turns.otherMedian()}};
  });
  KernelsInPlan all;
  const Json said = saidBy(end);
  if (!said.is_object() || said.contains("problem")) {
    all.problem = said.is_object() ? said["problem"].get<std::string>() : howItEnded(end);
    return all;
  }
  for (const auto& [name, times] : said["kernels"].items())
    all.kernels[name] = {times[0].get<double>(), times[1].get<double>(), times[2].get<double>(), times[3].get<bool>(),
                         times[4].get<bool>()};
  all.whole = {said["warm"], said["cold"], said["slower"]};
  all.isNoFaster = said["noFaster"], all.otherNs = said["ns"];
  return all;
}

}  // namespace

std::string whyNotRun(const Model& model, const Compilation& compilation, int variablesAt) {
  const PlanPair itself{model, model, compilation, compilation, {}, variablesAt};
  const ChildEnd end = inChild(itself, false, [](TwoPlans&) -> Result<Json> { return Json::object(); });
  const Json said = saidBy(end);
  return !said.is_object() ? howItEnded(end) : said.value("problem", std::string());
}

TrialResult comparePlans(const PlanPair& pair) {
  const ChildEnd end = inChild(pair, false, [](TwoPlans& turns) -> Result<Json> {
    SVOD_TRY(const TrialResult verdict, compared(turns));
    return jsonOf(verdict);
  });
  const Json said = saidBy(end);
  if (!said.is_object()) return {end.timedOut ? Outcome::Hung : Outcome::Crashed, howItEnded(end)};
  if (said.contains("problem")) return {Outcome::Crashed, said["problem"]};
  return {static_cast<Outcome>(said["outcome"].get<int>()),
          said["reason"],
          said["ns"],
          said["noise"],
          said["ratio"],
          said["runs"]};
}

KernelsInPlan timeKernelsInPlans(const PlanPair& pair, double seconds) { return timedInPlans(pair, true, seconds); }
KernelsInPlan timeWholePlans(const PlanPair& pair, double seconds) { return timedInPlans(pair, false, seconds); }

}  // namespace svod
