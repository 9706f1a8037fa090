// One loop nest of a kernel that is to get lanes.
#pragma once
#include <optional>

#include "choose/chooser.h"

namespace svod {

struct LoopNest {
  UOp reduce;  // the reduce inside of the most loops among those whose value depends on the lanes; null: none
  Lanes lanes;
  std::optional<uint32_t> packed;  // parameter slot of an operand that must be packed for the lanes to pay
};

}  // namespace svod
