#include "arena_limit.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "plan/check.h"
#include "plan/memory_plan.h"
#include "report/document.h"
#include "support/text.h"

namespace svod {

namespace {

uint64_t quarterOfMemory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes) / 4 : UINT64_MAX;
}

// Flags that bring the arena down to the limit where it grows with each of the variables.
std::string tighterBounds(const std::vector<Variable>& free, double ratio) {
  const double each = std::pow(ratio, 1.0 / static_cast<double>(free.size()));
  std::string flags;
  for (const Variable& v : free) {
    const auto most = std::max(v.min, static_cast<int64_t>(static_cast<double>(v.max) * each));
    flags += " --var " + shellWord(v.name + "=" + std::to_string(v.min) + ":" + std::to_string(most));
  }
  return flags;
}

}  // namespace

Result<uint64_t> parseBytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const size_t power = unit.empty() ? 0 : kUnits.find(unit[0]) + 1;
  const bool isUnit = unit.empty() || (unit.size() == 1 && kUnits.find(unit[0]) != kUnits.npos);
  if (error != std::errc() || !isUnit || number > (UINT64_MAX >> (10 * power)))
    return fail(Diag::Usage, "'" + std::string(text) + "' is no size of memory",
                "such as 512M, 2G or a number of bytes");
  return number << (10 * power);
}

Result<std::optional<Error>> arenaWarning(const Plan& plan, const std::string& maxArena) {
  uint64_t limit = quarterOfMemory();
  if (!maxArena.empty()) {
    SVOD_TRY(limit, parseBytes(maxArena));
  }
  const bool isPossible = arenaBytes(plan) <= kMaxPlanBytes, isPerRun = isLaidOutPerRun(plan) && isPossible;
  const uint64_t bytes = isPerRun ? plan.memory.peakBytes : arenaBytes(plan);
  if (bytes <= limit) return std::optional<Error>();
  std::vector<Variable> free;
  std::string sizes;
  const std::vector<int64_t> likely = likelyValues(plan);
  for (VariableId i = 0; i < plan.variables.size(); i++) {
    const Variable& v = plan.variables[i];
    if (v.kind != VariableKind::Free || v.min >= v.max) continue;
    free.push_back(v);
    sizes += (sizes.empty() ? "'" : ", '") + v.name + "' " + std::to_string(isPerRun ? likely[i] : v.max);
  }
  const std::string needs = "the arena takes " + bytesCell(bytes).text();
  const std::string beyond = isPossible ? ", more than " + bytesCell(limit).text() : ", more than a plan may ask for";
  Error large(Diag::TooLarge, needs + beyond, "every run takes that much; --max-arena moves the limit");
  if (isPerRun) {
    large->message = needs + " at the likely sizes, " + sizes + beyond;
    large->help = "runs of such sizes may fail; --max-arena moves the limit";
  } else if (!free.empty()) {
    const std::string bounds = tighterBounds(free, static_cast<double>(limit) / static_cast<double>(bytes));
    large->message = needs + " at the greatest sizes, " + sizes + beyond;
    large->help = (isPossible ? "runs of such sizes may fail; " : "") + ("tighter bounds make it smaller:" + bounds) +
                  (isPossible ? "; --max-arena moves the limit" : "");
  }
  if (!isPossible) return fail(std::move(large));
  return std::optional(std::move(large));
}

}  // namespace svod
