#include "tuning/outcomes.h"

#include <algorithm>
#include <array>

namespace svod {

namespace {

constexpr auto kOutcomes = std::to_array<OutcomeInfo>({
    {Outcome::Started, "started", "it began, and nothing more is known: what ran it ended", true},
    {Outcome::Timed, "timed", "right, and timed once; no claim that it is faster than another", false},
    {Outcome::Wins, "wins", "right, and faster than the opts of -O1 in interleaved runs", false},
    {Outcome::Loses, "loses", "right, and not faster than the opts of -O1 in interleaved runs", false},
    {Outcome::Slow, "slow", "stopped early: what it had taken was too much already", false},
    {Outcome::Wrong, "wrong", "other values than without opts", true},
    {Outcome::Crashed, "crashed", "ended by a signal", true},
    {Outcome::Hung, "hung", "did not end in time", true},
    {Outcome::OutOfBounds, "out-of-bounds", "touched memory outside of its buffers", true},
    {Outcome::Memory, "memory", "asked for more memory than it may have", true},
    {Outcome::CompileFailed, "compile-failed", "no code, or none in time", true},
    {Outcome::TooLarge, "too-large", "more instructions than a candidate may have", true},
    {Outcome::Untried, "untried", "the machine had no process or no room for it; ends a search, and is not recorded",
     false},
});

constexpr bool areInOrder() {
  for (size_t i = 0; i < kOutcomes.size(); ++i)
    if (kOutcomes[i].outcome != static_cast<Outcome>(i)) return false;
  return true;
}
static_assert(areInOrder());

}  // namespace

std::span<const OutcomeInfo> allOutcomes() { return kOutcomes; }

const OutcomeInfo& info(Outcome outcome) { return kOutcomes[static_cast<size_t>(outcome)]; }

std::optional<Outcome> outcomeFromText(std::string_view name) {
  const auto found = std::ranges::find(kOutcomes, name, &OutcomeInfo::name);
  return found == kOutcomes.end() ? std::nullopt : std::optional(found->outcome);
}

}  // namespace svod
