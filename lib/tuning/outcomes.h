// What became of a candidate, as a table.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace svod {

enum class Outcome : uint8_t {
  Started,
  Timed,
  Wins,
  Loses,
  Slow,
  Wrong,
  Crashed,
  Hung,
  OutOfBounds,
  Memory,
  CompileFailed,
  TooLarge,
  Untried,
};

struct OutcomeInfo {
  Outcome outcome;
  std::string_view name, what;
  bool isFailure;  // says something against the list of opts that no other time can outweigh
};

std::span<const OutcomeInfo> allOutcomes();
const OutcomeInfo& info(Outcome outcome);
std::optional<Outcome> outcomeFromText(std::string_view name);

}  // namespace svod
