// Vectorization: which loops become vector lanes.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "choose/chooser.h"

namespace svod {

/// Vector axes, at most one per value, and an operand that must be packed for them to pay.
struct LanePlan {
  std::vector<Lanes> lanes;
  std::optional<uint32_t> packed;  // parameter slot
};
/// Which operands may be in panels: Free ones are weights, laid out when the plan is built.
enum class Panels : uint8_t { Any, Free };
/// No lanes are given to the output loop `without`.
LanePlan chooseLanes(const Chooser& chooser, Panels panels, UOp without = {});

}  // namespace svod
