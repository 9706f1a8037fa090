#include "choose/choose.h"

#include <algorithm>

#include "choose/collapse_loops.h"
#include "choose/grid.h"
#include "choose/group_rows.h"
#include "choose/loop_nests.h"
#include "choose/non_temporal.h"
#include "choose/prefetch.h"
#include "choose/thread_tiles.h"

namespace svod {

Choice choose(Graph& graph, UOp sink, const Caps& caps) {
  Chooser c{graph, sink, caps, {}};
  bool serial =
      std::ranges::any_of(axesOf(sink), [](const Axis& a) { return axisType(a.range) == AxisType::Serial; });
  if (!serial) splitGroups(c);
  const Pattern pattern = patternOf(c.sink);
  if (!serial) collapseLoops(c);
  if (caps.workgroups) {
    fillGrid(c);
  } else {
    if (!serial) tileForVectors(c);
    splitForThreads(c);
    streamOutputs(c);
    if (!serial) prefetchOperands(c, pattern), prefetchCopies(c);
  }
  return {pattern, std::move(c.opts)};
}

std::vector<OptOp> optsOf(const Choice& choice) {
  std::vector<OptOp> opts;
  for (const ChosenOpt& chosen : choice.opts) opts.push_back(chosen.opt);
  return opts;
}

std::vector<OptOp> chooseOpts(Graph& graph, UOp sink, const Caps& caps) { return optsOf(choose(graph, sink, caps)); }

}  // namespace svod
