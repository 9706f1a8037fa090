#include "plan/lifetimes.h"

#include <algorithm>

namespace svod {

namespace {

void addOnce(std::vector<uint32_t>& list, uint32_t step) {
  if (list.empty() || list.back() != step) list.push_back(step);
}

}  // namespace

Lifetimes::Lifetimes(const MemoryProblem& problem, bool byProgramOrder)
    : byProgramOrder_(byProgramOrder),
      ancestors_(problem.deps, 0, byProgramOrder ? 0 : static_cast<uint32_t>(problem.deps.size())),
      life_(problem.sizes.size()), summaries_(problem.sizes.size()) {
  for (uint32_t step = 0; step < problem.steps.size(); step++)
    for (const BufferAccess& access : problem.steps[step]) {
      addOnce(life_[access.storage].users, step);
      if (writes(access.mode)) addOnce(life_[access.storage].writers, step);
    }
  summarize();
}

void Lifetimes::summarize() {
  for (size_t buffer = 0; buffer < life_.size(); buffer++) {
    const Life& life = life_[buffer];
    Summary& summary = summaries_[buffer];
    if (!life.users.empty()) summary.first = life.users.front(), summary.last = life.users.back();
    if (life.writers.empty()) continue;
    summary.firstWrite = life.writers.front();
    summary.allBefore = summary.noneFrom = UINT32_MAX;
    for (uint32_t writer : life.writers) {
      const StepRange run = byProgramOrder_ ? StepRange{0, writer} : ancestors_.lastRun(writer);
      summary.allBefore = std::min(summary.allBefore, byProgramOrder_ ? writer : ancestors_.prefix(writer));
      summary.noneFrom = std::min(summary.noneFrom, run.end);
      summary.allFrom = std::max(summary.allFrom, run.begin);
    }
  }
}

bool Lifetimes::diesBefore(uint32_t a, uint32_t b) const {
  const Summary &before = summaries_[a], &after = summaries_[b];
  if (before.last >= after.noneFrom) return false;
  if (before.last < after.allBefore || before.first >= after.allFrom) return true;
  if (!precedes(before.last, after.firstWrite)) return false;
  const Life &from = life_[a], &to = life_[b];
  return std::all_of(from.users.begin(), from.users.end(), [&](uint32_t user) {
    return std::all_of(to.writers.begin(), to.writers.end(), [&](uint32_t writer) { return precedes(user, writer); });
  });
}

bool Lifetimes::diesWith(uint32_t a, uint32_t b) const {
  const Life &from = life_[a], &to = life_[b];
  if (to.writers.empty() || from.users.back() != to.users.front()) return false;
  const uint32_t meeting = to.users.front();
  const auto before = [&](uint32_t step) { return step == meeting || precedes(step, meeting); };
  const auto after = [&](uint32_t step) { return step == meeting || precedes(meeting, step); };
  return std::all_of(from.users.begin(), from.users.end(), before) &&
         std::all_of(to.users.begin(), to.users.end(), after);
}

}  // namespace svod
