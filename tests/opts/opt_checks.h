// Applying lists of opts to the test kernels, with what must hold afterwards.
#pragma once
#include <catch2/catch.hpp>

#include "facts/axes.h"
#include "linearize/linearize.h"
#include "lower/expand.h"
#include "opts/emulate.h"
#include "opts/kernels.h"
#include "opts/replay.h"

namespace svod {

inline constexpr double kClose = 1e-5;

inline Caps cpuCaps() { return {}; }

inline UOp applied(Graph& g, UOp sink, const char* text, const Caps& caps = cpuCaps()) {
  auto opts = parseOpts(text);
  REQUIRE(opts);
  auto changed = applyOpts(g, sink, *opts, caps);
  INFO(text << ": " << (changed ? "" : toText(changed.error())));
  REQUIRE(changed);
  CHECK(sameBuffers(resultOf(sink), resultOf(*changed), kClose));
  return *changed;
}

inline std::string errorOf(Graph& g, UOp sink, const char* text, const Caps& caps = cpuCaps()) {
  auto opts = parseOpts(text);
  REQUIRE(opts);
  auto changed = applyOpts(g, sink, *opts, caps);
  INFO(text);
  REQUIRE_FALSE(changed);
  CHECK(changed.error()->diag == Diag::BadOpt);
  return toText(changed.error());
}

inline int countOp(UOp sink, Op op) {
  int count = 0;
  for (UOp n : toposort(sink)) count += n.op() == op;
  return count;
}

/// As the linear form has it, before legalization.
inline UOp lowered(Graph& g, UOp sink) {
  auto expanded = expand(g, sink);
  if (!expanded) FAIL(toText(expanded.error()));
  UOp merged = mergeLoops(g, *expanded);
  auto linear = linearize(g, merged, "kernel", Numerics::Contract);
  if (!linear) FAIL(toText(linear.error()));
  return merged;
}

}  // namespace svod
