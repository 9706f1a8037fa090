#include "tuning/winners.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace svod {

namespace {

/// All that is known of one list, or of a plan.
struct Standing {
  bool won = false, lost = false, isOwn = false;
  double ratio = 0;
  std::set<std::string> machines;

  void add(const TrialRecord& r, std::string_view compiler) {
    lost |= info(r.outcome).isFailure || r.outcome == Outcome::Loses;
    if (r.outcome != Outcome::Wins) return;
    won = true, isOwn |= r.compiler == compiler;
    ratio = std::max(ratio, r.ratio);
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
    for (const PlanWinner& best : bestPlansOf(log, compiler))
      decisions[{best.graph, best.target}] = planWinnersOf(log, best.graph, best.target, compiler);
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

std::vector<Winner> winnersOf(const TuningLog& log, std::string_view kernel, std::string_view target,
                              std::string_view compiler) {
  std::map<std::string, Standing> standings;
  for (const CandidateRecord& r : log.candidates)
    if (r.kernel == kernel && r.target == target) standings[r.opts].add(r, compiler);
  std::vector<Winner> winners;
  for (const auto& [opts, s] : standings)
    if (s.won && !s.lost)
      winners.push_back({std::string(kernel), std::string(target), opts, s.ratio, !s.isOwn, joined(s.machines)});
  const auto rank = [](const Winner& w) {
    return std::tuple(w.isHint, w.ratio, w.opts.size(), std::string_view(w.opts));
  };
  std::ranges::sort(winners, {}, rank);
  return winners;
}

std::vector<PlanWinner> planWinnersOf(const TuningLog& log, std::string_view graph, std::string_view target,
                                      std::string_view compiler) {
  std::map<std::vector<std::string>, Standing> standings;
  for (const PlanRecord& r : log.plans)
    if (r.graph == graph && r.target == target) standings[r.decisions].add(r, compiler);
  std::vector<PlanWinner> winners;
  for (const auto& [decisions, s] : standings)
    if (s.won && !s.lost)
      winners.push_back({std::string(graph), std::string(target), decisions, s.ratio, !s.isOwn, joined(s.machines)});
  const auto rank = [](const PlanWinner& w) { return std::tuple(w.isHint, w.ratio, w.decisions.size(), w.decisions); };
  std::ranges::sort(winners, {}, rank);
  return winners;
}

std::vector<Winner> bestOf(const TuningLog& log, std::string_view compiler) {
  std::set<std::pair<std::string, std::string>> places;
  for (const CandidateRecord& r : log.candidates) places.emplace(r.kernel, r.target);
  std::vector<Winner> best;
  for (const auto& [kernel, target] : places)
    if (std::vector<Winner> all = winnersOf(log, kernel, target, compiler); !all.empty())
      best.push_back(std::move(all.front()));
  return best;
}

std::vector<PlanWinner> bestPlansOf(const TuningLog& log, std::string_view compiler) {
  std::set<std::pair<std::string, std::string>> places;
  for (const PlanRecord& r : log.plans) places.emplace(r.graph, r.target);
  std::vector<PlanWinner> best;
  for (const auto& [graph, target] : places)
    if (std::vector<PlanWinner> all = planWinnersOf(log, graph, target, compiler); !all.empty())
      best.push_back(std::move(all.front()));
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
