#include "tuning/account.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace svod {

namespace {

/// The later a verdict stands here the more it says.
int weightOf(Outcome outcome) {
  if (outcome == Outcome::Started) return 0;
  if (info(outcome).isFailure) return 5;
  return outcome == Outcome::Loses ? 4 : outcome == Outcome::Wins ? 3 : outcome == Outcome::Timed ? 2 : 1;
}

/// Two records of one list as one: what says most, with the first number.
CandidateRecord both(const CandidateRecord& a, const CandidateRecord& b) {
  const auto rank = [](const CandidateRecord& r) { return std::tuple(weightOf(r.outcome), -r.nanoseconds); };
  CandidateRecord r = rank(a) < rank(b) ? b : a;
  if (r.nanoseconds == 0) r.nanoseconds = std::max(a.nanoseconds, b.nanoseconds);
  const int64_t least = std::min(a.number, b.number);
  r.number = least > 0 ? least : std::max(a.number, b.number);
  return r;
}

std::string mostOf(const std::map<std::string, int64_t>& counts) {
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return most == counts.end() ? "" : most->first;
}

/// Of each graph and target one: what this compiler makes, and without decisions that were asked for, goes first.
std::vector<const GraphRecord*> usualPlansOf(const TuningLog& log, std::string_view compiler) {
  const auto rank = [&](const GraphRecord* r) {
    return std::tuple(r->compiler == compiler, r->decisions.empty(), toLine(*r));
  };
  std::map<std::pair<std::string, std::string>, const GraphRecord*> places;
  for (const GraphRecord& r : log.graphs) {
    if (r.launches.empty()) continue;
    const auto [at, isNew] = places.emplace(std::pair(r.graph, r.target), &r);
    if (!isNew && rank(at->second) < rank(&r)) at->second = &r;
  }
  std::vector<const GraphRecord*> all;
  for (const auto& [place, r] : places) all.push_back(r);
  return all;
}

/// How often baseline plans run kernels.
class Launches {
 public:
  Launches(const TuningLog& log, std::string_view compiler) {
    for (const GraphRecord* r : usualPlansOf(log, compiler)) {
      graphs_[r->target].insert(r->graph);
      for (const auto& [kernel, count] : r->launches) byTarget_[r->target][kernel] += count;
    }
    for (const auto& [target, known] : graphs_)
      if (std::ranges::all_of(log.graphs, [&](const GraphRecord& r) { return known.contains(r.graph); }))
        whole_.insert(target);
    for (const KernelRecord& k : log.kernels) {
      int64_t& most = named_.try_emplace(k.kernel, 1).first->second;
      most = std::max(most, k.launches);
    }
  }
  /// Where the log does not name the baseline plan of every graph for the target, others may have the kernel: the
  /// greatest of what is said of it.
  int64_t of(const std::string& kernel, const std::string& target) const {
    const auto known = byTarget_.find(target);
    if (known != byTarget_.end()) {
      const auto found = known->second.find(kernel);
      if (found != known->second.end()) return found->second;
      if (whole_.contains(target)) return 0;
    }
    const auto named = named_.find(kernel);
    return named == named_.end() ? 1 : named->second;
  }

 private:
  std::map<std::string, std::map<std::string, int64_t>> byTarget_;
  std::map<std::string, std::set<std::string>> graphs_;  // whose baseline plan is known, by target
  std::set<std::string> whole_;                          // targets of which all are known
  std::map<std::string, int64_t> named_;                 // launches as kernels say, by kernel
};

/// Those of the machine with most records.
void addCandidates(KernelAccount& account, const std::vector<const CandidateRecord*>& records) {
  std::map<std::string, int64_t> machines;
  for (const CandidateRecord* r : records) ++machines[r->machine];
  account.machine = mostOf(machines);
  std::map<std::string, CandidateRecord> byOpts;
  for (const CandidateRecord* r : records) {
    if (r->machine != account.machine) continue;
    const auto [at, isNew] = byOpts.emplace(r->opts, *r);
    if (!isNew) at->second = both(at->second, *r);
  }
  for (auto& [opts, r] : byOpts) account.candidates.push_back(std::move(r));
  std::ranges::stable_sort(account.candidates, {}, &CandidateRecord::number);
}

void count(KernelAccount& account) {
  std::map<std::pair<Outcome, std::string>, int64_t> reasons;
  for (const CandidateRecord& r : account.candidates) {
    ++account.outcomes[r.outcome];
    if (info(r.outcome).isFailure) ++reasons[{r.outcome, r.reason}];
    if (r.origin == "-O1" && r.nanoseconds > 0 && !account.baseline) account.baseline = r;
    if (account.winner && r.opts == account.winner->opts) account.won = r;
  }
  for (const auto& [what, number] : reasons) account.drops.push_back({what.first, what.second, number});
  std::ranges::stable_sort(account.drops, std::greater(), &DropReason::count);
}

/// "vector(n1,16)" in two parts: what it is and for which loops, "vector(n1,#)".
std::string shapeOf(std::string_view opt) {
  std::string shape;
  bool inNumber = false;
  for (size_t i = 0; i < opt.size(); ++i) {
    const bool isDigit = opt[i] >= '0' && opt[i] <= '9';
    const bool begins = isDigit && i > 0 && (opt[i - 1] == '(' || opt[i - 1] == ',');
    if (begins) shape += '#';
    inNumber = begins || (isDigit && inNumber);
    if (!inNumber) shape += opt[i];
  }
  return shape;
}

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::vector<KernelAccount> accountsOf(const TuningLog& log, std::string_view compiler) {
  std::map<std::pair<std::string, std::string>, std::vector<const CandidateRecord*>> places;
  for (const CandidateRecord& r : log.candidates) places[{r.kernel, r.target}].push_back(&r);
  std::map<std::string, Winner> winners;
  for (Winner& w : bestOf(log, compiler)) winners.emplace(w.kernel + w.target, std::move(w));
  std::map<std::string_view, std::string_view> names;
  for (const KernelRecord& r : log.kernels) names.try_emplace(r.kernel, r.name);
  const Launches launches(log, compiler);
  std::vector<KernelAccount> all;
  for (const auto& [place, records] : places) {
    KernelAccount account;
    account.kernel = account.name = place.first, account.target = place.second;
    if (const auto named = names.find(account.kernel); named != names.end()) account.name = named->second;
    account.launches = launches.of(account.kernel, account.target);
    if (const auto found = winners.find(place.first + place.second); found != winners.end())
      account.winner = found->second;
    addCandidates(account, records);
    count(account);
    all.push_back(std::move(account));
  }
  std::ranges::stable_sort(all, {}, [](const KernelAccount& a) {
    return std::tuple(a.after() - a.before(), -a.before(), std::string_view(a.name));
  });
  return all;
}

std::vector<GraphAccount> graphAccountsOf(const TuningLog& log, std::string_view compiler) {
  std::set<std::pair<std::string, std::string>> tuned, decided;
  for (const Winner& w : bestOf(log, compiler)) tuned.emplace(w.kernel, w.target);
  for (const PlanWinner& w : bestPlansOf(log, compiler)) decided.emplace(w.graph, w.target);
  std::map<std::pair<std::string, std::string>, GraphAccount> places;
  for (const GraphRecord* r : usualPlansOf(log, compiler)) {
    GraphAccount& account = places[{r->graph, r->target}];
    account.kernels = r->launches.size();
    for (const auto& [kernel, count] : r->launches) account.winners += tuned.contains({kernel, r->target}) ? 1 : 0;
    account.isBaseline = account.winners == 0 && !decided.contains({r->graph, r->target});
  }
  for (GainRecord& r : gainsOf(log)) places[{r.graph, r.target}].gains.push_back(std::move(r));
  std::vector<GraphAccount> all;
  for (auto& [place, account] : places) {
    std::tie(account.graph, account.target) = place;
    const auto record = std::ranges::find(log.graphs, account.graph, &GraphRecord::graph);
    account.name = record == log.graphs.end() ? account.graph : record->name;
    const auto isOther = [&](const GainRecord& r) { return r.compiler != compiler; };
    if (!std::ranges::all_of(account.gains, isOther)) std::erase_if(account.gains, isOther);
    all.push_back(std::move(account));
  }
  std::ranges::stable_sort(all, {}, &GraphAccount::name);
  return all;
}

std::string_view nameOf(OptDifference::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"as -O1", "other amounts", "only -O1", "only the winner"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<OptDifference> differencesOf(std::string_view baseline, std::string_view winner) {
  using Kind = OptDifference::Kind;
  std::vector<std::string> rest = wordsOf(baseline);
  const std::vector<std::string> words = wordsOf(winner);
  std::vector<OptDifference> all;
  for (const std::string& word : words) {
    const auto same = std::ranges::find(rest, word);
    all.push_back({same == rest.end() ? Kind::Added : Kind::Kept, same == rest.end() ? "" : word, word});
    if (same != rest.end()) rest.erase(same);
  }
  for (OptDifference& d : all) {
    if (d.kind != Kind::Added) continue;
    const auto alike = std::ranges::find(rest, shapeOf(d.winner), [](const std::string& w) { return shapeOf(w); });
    if (alike == rest.end()) continue;
    d.kind = Kind::Changed, d.baseline = *alike;
    rest.erase(alike);
  }
  for (const std::string& word : rest) all.push_back({Kind::Removed, word, ""});
  return all;
}

}  // namespace svod
