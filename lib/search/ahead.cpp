#include "search/ahead.h"

#include <algorithm>
#include <set>

namespace svod {

std::vector<Candidate> startOf(Moves& moves, const SearchOptions& options,
                               const std::vector<std::vector<OptOp>>& hints) {
  std::vector<Candidate> start = moves.seeds();
  if (options.beam > 0) start.resize(std::min<size_t>(start.size(), 1));
  const auto add = [&](std::span<const OptOp> opts, std::string origin) {
    if (std::optional<Candidate> made = moves.candidate(opts, std::move(origin))) start.push_back(std::move(*made));
  };
  if (options.threads > 1 && !start.empty())
    for (int count : moves.threadCounts())
      if (std::optional<Candidate> made = moves.shared(start[0], count)) start.push_back(std::move(*made));
  for (const std::vector<OptOp>& hint : hints) add(hint, "tuning log");
  for (const Hint& hint : options.neighbours.hints) add(hint.opts, hint.origin);
  if (options.beam > 0) add({}, "no opts");
  return start;
}

std::vector<Candidate> candidatesAhead(Graph& graph, UOp sink, const Caps& caps, const SearchOptions& options,
                                       const std::vector<std::vector<OptOp>>& hints, size_t count) {
  constexpr int kRounds = 8;
  Moves moves(graph, sink, caps, options.threads);
  std::vector<Candidate> all;
  std::set<std::string> seen;
  for (Candidate& c : startOf(moves, options, hints))
    if (seen.insert(c.text).second) all.push_back(std::move(c));
  const size_t begun = std::min(all.size(), count);
  all.resize(begun);
  Correction correction = options.neighbours.correction;
  correction.fit();
  const auto expected = [&](const Candidate& c) { return correction.expected(c); };
  std::mt19937_64 random(options.seed);
  std::vector<Candidate> changes;
  for (int round = 0; round < kRounds && begun > 0 && begun < count; ++round) {
    std::vector<Candidate> parents = all;
    parents.insert(parents.end(), changes.begin(), changes.end());
    std::ranges::stable_sort(parents, {}, expected);
    parents.resize(std::min(parents.size(), options.parents));
    for (size_t i = 0; i < options.mutants; ++i) {
      std::optional<Candidate> mutant = moves.mutant(parents, random);
      if (mutant && mutant->instructions <= options.mostInstructions && seen.insert(mutant->text).second)
        changes.push_back(std::move(*mutant));
    }
    std::ranges::stable_sort(changes, {}, expected);
    changes.resize(std::min(changes.size(), count - begun));
  }
  std::ranges::move(changes, std::back_inserter(all));
  return all;
}

}  // namespace svod
