#include "report/document.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <span>

namespace svod {

namespace {

struct ToText {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(int64_t number) const { return std::to_string(number); }
  std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
  std::string operator()(double number) const {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.6g", number);
    return buffer;
  }
  std::string operator()(const Cell::Words& words) const {
    std::string text;
    for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
    return text;
  }
  std::string operator()(const Cell::Amounts& amounts) const {
    std::string text;
    for (const auto& [name, amount] : amounts)
      text += (text.empty() ? "" : ", ") + name +
              (amount ? " " + countCell(static_cast<int64_t>(std::llround(*amount))).text() : "");
    return text;
  }
  std::string operator()(const Cell::Numbers& numbers) const {
    std::string text;
    for (int64_t n : numbers) text += (text.empty() ? "" : " ") + std::to_string(n);
    return text;
  }
};

/// Three significant digits with the largest unit that leaves at least 1.
std::string withUnit(double value, double step, std::span<const char* const> units) {
  size_t unit = 0;
  while (std::abs(value) >= step && unit + 1 < units.size()) value /= step, ++unit;
  char buffer[48];
  const int digits = unit == 0 || std::abs(value) >= 100 ? 0 : std::abs(value) >= 10 ? 1 : 2;
  std::snprintf(buffer, sizeof buffer, "%.*f%s", digits, value, units[unit]);
  return buffer;
}

}  // namespace

std::string Cell::text() const { return shown.empty() ? std::visit(ToText(), value) : shown; }

Cell bytesCell(uint64_t bytes) {
  constexpr std::array kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  return Cell(static_cast<int64_t>(bytes), withUnit(static_cast<double>(bytes), 1024, kUnits));
}

Cell countCell(int64_t count) {
  constexpr std::array kUnits = {"", " k", " M", " G", " T"};
  return Cell(count, withUnit(static_cast<double>(count), 1000, kUnits));
}

Cell timeCell(double nanoseconds) {
  constexpr std::array kUnits = {" ns", " us", " ms", " s"};
  return Cell(nanoseconds, withUnit(nanoseconds, 1000, kUnits));
}

}  // namespace svod
