#include "choose/laid_out.h"

#include <algorithm>

#include "constants/constant_layout.h"

namespace svod {

bool isLaidOut(const Chooser& c, uint32_t slot) {
  return std::ranges::find(c.caps.constants, slot) != c.caps.constants.end() && readingOrder(c.graph, c.sink, slot);
}

std::vector<uint32_t> laidOutSlots(const Chooser& c) {
  std::vector<uint32_t> slots = c.caps.constants;
  std::erase_if(slots, [&](uint32_t slot) { return !readingOrder(c.graph, c.sink, slot); });
  return slots;
}

}  // namespace svod
