// Options of devices, as components read them: a header for these alone, of which the runtime itself has nothing.
#pragma once
#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <variant>

#include "runtime-min/drivers.h"
#include "support/says.h"

namespace svod {

/// An option that devices of a kind know, and what its value becomes: a text, a number from 0 on, or a switch.
struct KnownOption {
  std::string_view name;
  std::variant<std::string*, int*, bool*> to;
};

/// What devices of any kind know. An option that is given for all devices of a plan is passed over by those kinds that
/// do not know it.
inline constexpr std::string_view kDeviceOptions[] = {"number", "driver", "loader", "library", "jit", "graphs", "wait"};

inline Status readValue(std::string_view, const DeviceOption& option, std::string* to) {
  *to = option.value;
  return {};
}

inline Status readValue(std::string_view kind, const DeviceOption& option, int* to) {
  const char* const end = option.value.data() + option.value.size();
  const auto [stop, error] = std::from_chars(option.value.data(), end, *to);
  if (error == std::errc() && stop == end && *to >= 0) return {};
  return fail(Diag::Usage, says({"the device option '", option.name, "' is '", option.value, "'"}),
              says({"it is the number of a device of kind ", kind, ", from 0 on: svod-run --list-devices shows them"}));
}

inline Status readValue(std::string_view, const DeviceOption& option, bool* to) {
  *to = option.value == "on";
  if (*to || option.value == "off") return {};
  return fail(Diag::Usage, says({"the device option '", option.name, "' is '", option.value, "'"}), "it is on or off");
}

/// Errors: Usage, for a value that an option does not have and an option that devices of no kind have.
inline Status readOptions(std::string_view kind, std::span<const DeviceOption> options,
                          std::initializer_list<KnownOption> known) {
  for (const DeviceOption& option : options) {
    const auto found = std::ranges::find(known, option.name, &KnownOption::name);
    if (found != known.end()) {
      SVOD_CHECK(std::visit([&](auto* to) { return readValue(kind, option, to); }, found->to));
      continue;
    }
    if (std::ranges::find(kDeviceOptions, option.name) != std::end(kDeviceOptions)) continue;
    std::string names;
    for (const KnownOption& each : known) names.append(names.empty() ? "" : ", ").append(each.name);
    return fail(Diag::Usage, says({"devices of kind ", kind, " have no option '", option.name, "'"}),
                says({"they know ", names}));
  }
  return {};
}

}  // namespace svod
