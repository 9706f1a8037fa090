// Numbers that decisions compare with: what a row of a table of them says.
#pragma once
#include <cstdint>
#include <string_view>

namespace svod {

/// Measured here; how processors are built; judged: no measurement is kept.
enum class Origin : uint8_t { Measured, Machine, Judged };

struct ParameterInfo {
  std::string_view name;
  double value;
  std::string_view what;
  Origin origin;
};

constexpr std::string_view toText(Origin origin) {
  constexpr std::string_view kText[] = {"measured", "machine", "judged"};
  return kText[static_cast<size_t>(origin)];
}

}  // namespace svod
