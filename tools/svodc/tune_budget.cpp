#include "tune_budget.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace svod {

Result<double> parseSeconds(const std::string& text) {
  constexpr double kMost = 1e8;
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const double each = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const double seconds = number * each;
  if (problem != std::errc() || !(seconds > 0) || seconds > kMost)
    return fail(Diag::Usage, "'" + text + "' is no time to spend",
                "a number of seconds, or with a unit: 90s, 10m, 1.5h");
  return seconds;
}

std::string clockText(double seconds) {
  const auto all = static_cast<long long>(std::max(0.0, std::ceil(seconds)));
  char text[48];
  if (all >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", all / 60, all % 60);
  return text;
}

double shareOfFirst(double seconds, std::span<const double> weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  return all > 0 ? seconds * weights.front() / all : seconds / static_cast<double>(weights.size());
}

}  // namespace svod
