// Kernels before and after a pass that rewrites memory operations of vector lanes.
#pragma once
#include <catch2/catch.hpp>

#include "ir/text.h"
#include "ir/verify.h"
#include "lower/expand.h"
#include "opts/kernels.h"
#include "opts/replay.h"

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

/// What `pass` makes of it computes what the plain kernel does; returns the irregular operations left.
inline int irregularLeft(Graph& g, UOp sink, const char* opts, Op op, UOp (*pass)(Graph&, UOp)) {
  UOp before = withOpts(g, sink, opts), after = pass(g, before);
  INFO(opts << "\n" << toUopText(after));
  Status valid = verify(after, Stage::Lowered);
  CHECK((valid ? "" : toText(valid.error())) == "");
  REQUIRE(irregular(op, before) > 0);
  CHECK(sameBuffers(resultOf(sink), resultOf(after), 0));
  return irregular(op, after);
}

}  // namespace svod
