// Vectorization: which loops become vector lanes.
#pragma once
#include <optional>
#include <vector>

#include "choose/chooser.h"

namespace svod {

/// Vector axes, at most one per value, and an operand that must be packed for them to pay.
struct LanePlan {
  std::vector<Lanes> lanes;
  std::optional<uint32_t> packed;  // parameter slot
};
LanePlan chooseLanes(const Chooser& chooser);

}  // namespace svod
