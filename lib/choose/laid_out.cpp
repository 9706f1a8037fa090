#include "choose/laid_out.h"

#include <algorithm>

#include "constants/constant_layout.h"

namespace svod {

bool isLaidOut(const Chooser& c, uint32_t slot) {
  return std::ranges::find(c.caps.constants, slot) != c.caps.constants.end() && readingOrder(c.graph, c.sink, slot);
}

}  // namespace svod
