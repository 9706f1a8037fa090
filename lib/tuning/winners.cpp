#include "tuning/winners.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tuning/all_winners.h"

namespace svod {

namespace {

/// All that is known of one list, or of a plan.
struct Standing {
  bool won = false, lost = false, isOwn = false, isMeasured = false;
  double ratio = 0;
  std::set<std::string> machines;

  void add(const TrialRecord& r, std::string_view compiler) {
    const bool hasRun = r.machine != kPricedMachine;
    lost |= info(r.outcome).isFailure || (hasRun && r.outcome == Outcome::Loses);
    if (r.outcome != Outcome::Wins) return;
    won = true, isOwn |= r.compiler == compiler;
    if (hasRun && !isMeasured) ratio = 0;  // what was expected says no more
    isMeasured |= hasRun;
    if (hasRun || !isMeasured) ratio = std::max(ratio, r.ratio);
    machines.insert(r.machine);
  }
};

/// What a compiler takes from a log.
struct Choices {
  using Place = std::pair<std::string, std::string>;
  std::map<Place, std::string> opts;                   // by kernel and target
  std::map<Place, std::vector<PlanWinner>> decisions;  // by graph and target: the first that the graph has

  Choices(const TuningLog& log, std::string_view compiler) {
    for (Winner& w : bestOf(log, compiler)) opts[{w.kernel, w.target}] = std::move(w.opts);
    for (std::vector<PlanWinner>& winners : allPlanWinners(log, compiler)) {
      const Place place(winners.front().graph, winners.front().target);
      decisions[place] = std::move(winners);
    }
  }
  bool are(const GainRecord& r) const {
    if (decisionsFor(r) != r.decisions) return false;
    return std::ranges::all_of(r.kernels, [&](const auto& kernel) {
      const auto best = opts.find({kernel.first, r.target});
      return best == opts.end() ? !kernel.second : kernel.second == best->second;
    });
  }

 private:
  std::vector<std::string> decisionsFor(const GainRecord& r) const {
    const auto found = decisions.find({r.graph, r.target});
    if (found == decisions.end()) return {};
    for (const PlanWinner& w : found->second)
      if (std::ranges::find(r.passed, w.decisions) == r.passed.end()) return w.decisions;
    return {};
  }
};

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

}  // namespace

LogKnows knowledgeOf(const TuningLog& log, std::string_view kernel, std::string_view target) {
  LogKnows known = LogKnows::Nothing;
  for (const CandidateRecord& r : log.candidates)
    if (r.kernel == kernel) known = std::max(known, r.target == target ? LogKnows::Target : LogKnows::OtherTargets);
  return known;
}

LogKnows knowledgeOfPlans(const TuningLog& log, std::string_view graph, std::string_view target) {
  LogKnows known = LogKnows::Nothing;
  for (const PlanRecord& r : log.plans)
    if (r.graph == graph) known = std::max(known, r.target == target ? LogKnows::Target : LogKnows::OtherTargets);
  return known;
}

namespace {

using Place = std::pair<std::string, std::string>;  // kernel or graph, and target

/// Those that won and did not lose, best first.
std::vector<Winner> rankedWinners(const Place& place, const std::map<std::string, Standing>& standings) {
  std::vector<Winner> winners;
  for (const auto& [opts, s] : standings)
    if (s.won && !s.lost)
      winners.push_back({place.first, place.second, opts, s.ratio, !s.isOwn, joined(s.machines), !s.isMeasured});
  const auto rank = [](const Winner& w) {
    return std::tuple(w.isHint, w.isPriced, w.ratio, w.opts.size(), std::string_view(w.opts));
  };
  std::ranges::sort(winners, {}, rank);
  return winners;
}

std::vector<PlanWinner> rankedWinners(const Place& place,
                                      const std::map<std::vector<std::string>, Standing>& standings) {
  std::vector<PlanWinner> winners;
  for (const auto& [decisions, s] : standings)
    if (s.won && !s.lost)
      winners.push_back({place.first, place.second, decisions, s.ratio, !s.isOwn, joined(s.machines), !s.isMeasured});
  const auto rank = [](const PlanWinner& w) {
    return std::tuple(w.isHint, w.isPriced, w.ratio, w.decisions.size(), w.decisions);
  };
  std::ranges::sort(winners, {}, rank);
  return winners;
}

}  // namespace

std::vector<Winner> winnersOf(const TuningLog& log, std::string_view kernel, std::string_view target,
                              std::string_view compiler) {
  std::map<std::string, Standing> standings;
  for (const CandidateRecord& r : log.candidates)
    if (r.kernel == kernel && r.target == target) standings[r.opts].add(r, compiler);
  return rankedWinners({std::string(kernel), std::string(target)}, standings);
}

std::vector<PlanWinner> planWinnersOf(const TuningLog& log, std::string_view graph, std::string_view target,
                                      std::string_view compiler) {
  std::map<std::vector<std::string>, Standing> standings;
  for (const PlanRecord& r : log.plans)
    if (r.graph == graph && r.target == target) standings[r.decisions].add(r, compiler);
  return rankedWinners({std::string(graph), std::string(target)}, standings);
}

std::vector<std::vector<Winner>> allWinners(const TuningLog& log, std::string_view compiler) {
  std::map<Place, std::map<std::string, Standing>> places;
  for (const CandidateRecord& r : log.candidates) places[{r.kernel, r.target}][r.opts].add(r, compiler);
  std::vector<std::vector<Winner>> all;
  for (const auto& [place, standings] : places)
    if (std::vector<Winner> winners = rankedWinners(place, standings); !winners.empty())
      all.push_back(std::move(winners));
  return all;
}

std::vector<std::vector<PlanWinner>> allPlanWinners(const TuningLog& log, std::string_view compiler) {
  std::map<Place, std::map<std::vector<std::string>, Standing>> places;
  for (const PlanRecord& r : log.plans) places[{r.graph, r.target}][r.decisions].add(r, compiler);
  std::vector<std::vector<PlanWinner>> all;
  for (const auto& [place, standings] : places)
    if (std::vector<PlanWinner> winners = rankedWinners(place, standings); !winners.empty())
      all.push_back(std::move(winners));
  return all;
}

std::vector<Winner> bestOf(const TuningLog& log, std::string_view compiler) {
  std::vector<Winner> best;
  for (std::vector<Winner>& winners : allWinners(log, compiler)) best.push_back(std::move(winners.front()));
  return best;
}

std::vector<PlanWinner> bestPlansOf(const TuningLog& log, std::string_view compiler) {
  std::vector<PlanWinner> best;
  for (std::vector<PlanWinner>& winners : allPlanWinners(log, compiler)) best.push_back(std::move(winners.front()));
  return best;
}

std::vector<GainRecord> gainsOf(const TuningLog& log) {
  using Place = std::tuple<std::string, std::string, std::string, std::string, std::vector<std::string>>;
  const auto rank = [](const GainRecord& r) { return std::tuple(r.warm, r.cold, toLine(r)); };
  std::map<std::string, Choices> choices;  // by compiler
  std::map<Place, GainRecord> least;
  for (const GainRecord& r : log.gains) {
    if (!choices.try_emplace(r.compiler, log, r.compiler).first->second.are(r)) continue;
    const auto [at, isNew] = least.emplace(Place(r.graph, r.target, r.machine, r.compiler, r.asked), r);
    if (!isNew && rank(at->second) < rank(r)) at->second = r;
  }
  std::vector<GainRecord> all;
  for (auto& [place, r] : least) all.push_back(std::move(r));
  return all;
}

}  // namespace svod
