// Kernels before and after a pass that rewrites memory operations of vector lanes.
#pragma once
#include <catch2/catch.hpp>

#include "ir/text.h"
#include "ir/verify.h"
#include "lower/expand.h"
#include "optimize/kernels.h"
#include "optimize/replay.h"

namespace svod {

inline UOp withOpts(Graph& g, UOp sink, const char* opts) {
  auto tuned = applyOpts(g, sink, *parseOpts(opts), Caps());
  if (!tuned) FAIL(toText(tuned.error()));
  auto expanded = expand(g, *tuned);
  if (!expanded) FAIL(toText(expanded.error()));
  return *expanded;
}

/// Loads or stores whose lanes are not neighbours.
inline int irregular(Op op, UOp sink) {
  int count = 0;
  for (UOp n : toposort(sink))
    if (n.op() == op && n.src(0).lanes() > 1) count += n.src(0).src(1).op() != Op::Ramp;
  return count;
}

}  // namespace svod
