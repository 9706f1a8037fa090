#include "choose/loop_nests.h"

#include <algorithm>

#include "choose/attention.h"
#include "choose/case_loops.h"
#include "choose/dot_products.h"
#include "choose/im2col.h"
#include "choose/lanes.h"
#include "choose/output_lanes.h"
#include "choose/reduce_lanes.h"
#include "choose/share_rows.h"
#include "choose/stream_lanes.h"
#include "choose/transpose_blocks.h"
#include "facts/patterns.h"

namespace svod {

namespace {

// The reduce inside of the most loops among those whose value depends on `range`; null when there is none.
UOp deepestReduce(UOp sink, UOp range) {
  UOp deepest;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Reduce && n.src(0).dependsOn(range))
      if (!deepest || n.src(0).ranges().size() > deepest.src(0).ranges().size()) deepest = n;
  return deepest;
}

}  // namespace

void tileForVectors(Chooser& c) {
  useDots(c);
  if (packWindows(c) || tileRows(c)) return;
  expandCases(c);
  shareRows(c);
  LanePlan plan = chooseLanes(c);
  for (const Lanes& l : plan.lanes) {
    Lanes lanes{c.range(idOf(l.range)), l.width};  // as earlier opts left it
    if (!lanes.range) continue;
    UOp reduce = deepestReduce(c.sink, lanes.range);
    if (!reduce)
      patternOf(c.sink) == Pattern::Transpose ? blockTransposed(c, lanes) : widenStreams(c, lanes);
    else if (std::ranges::find(reduce.src(), lanes.range) != reduce.src().end())
      tileReduceLanes(c, reduce, lanes);
    else
      tileReduceOverOutputLanes(c, reduce, lanes, plan.packed);
  }
}

}  // namespace svod
