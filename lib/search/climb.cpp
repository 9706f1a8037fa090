#include "search/climb.h"

#include <algorithm>

namespace svod {

Climb::Climb(Moves& moves, const Candidate& from, size_t width, ClimbRules rules)
    : moves_(&moves), width_(width), rules_(std::move(rules)), best_(rules_.timeOf(from)), isOver_(false) {
  makeStep({&from, 1});
}

std::span<const Candidate> Climb::take(size_t count) {
  const size_t first = taken_;
  taken_ += std::min(count, left());
  return std::span(made_).subspan(first, taken_ - first);
}

void Climb::goOn() {
  std::vector<Candidate> next = std::move(made_);
  std::erase_if(next, [&](const Candidate& c) { return rules_.timeOf(c) == 0; });
  std::ranges::stable_sort(next, {}, [&](const Candidate& c) { return rules_.timeOf(c); });
  const auto repeated = std::ranges::unique(next, {}, &Candidate::text);
  next.erase(repeated.begin(), repeated.end());
  isOver_ = next.empty() || (best_ > 0 && rules_.timeOf(next[0]) > best_ * (1 - rules_.leastGain));
  next.resize(isOver_ ? 0 : std::min(next.size(), width_));
  if (!isOver_) best_ = rules_.timeOf(next[0]);
  makeStep(next);
}

void Climb::makeStep(std::span<const Candidate> from) {
  made_.clear(), taken_ = 0;
  for (const Candidate& list : from) std::ranges::move(moves_->successors(list), std::back_inserter(made_));
  std::erase_if(made_, [&](const Candidate& c) { return !rules_.isHopeful(c); });
  if (rules_.rankOf) std::ranges::stable_sort(made_, {}, rules_.rankOf);
  made_.resize(std::min(made_.size(), rules_.most));
}

}  // namespace svod
