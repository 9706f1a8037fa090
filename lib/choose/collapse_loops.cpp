#include "choose/collapse_loops.h"

#include "facts/loop_pairs.h"

namespace svod {

void collapseLoops(Chooser& c) {
  for (size_t i = 0; i + 1 < c.facts().axes.size();) {
    const Axis outer = c.facts().axes[i], inner = c.facts().axes[i + 1];
    const AxisList both{{static_cast<int32_t>(i), static_cast<int32_t>(i) + 1}};
    const bool merged = outer.nest == inner.nest && outer.nest != Nest::Fill &&
                        walksAsOne(c.facts(), outer.range, inner.range) &&
                        c.apply(OptKind::Merge, both, "every access walks both as one loop");
    i = merged ? 0 : i + 1;
  }
}

}  // namespace svod
