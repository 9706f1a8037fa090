// The kernel as changed so far and the opts that did it: what the parts of a choice hand on.
#pragma once
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "choose/choice.h"
#include "facts/axes.h"
#include "facts/caps.h"
#include "opts/opt.h"

namespace svod {

/// Borrows the graph and `caps`. A copy is a trial: it may change its sink and opts without touching the
/// original's.
struct Chooser {
  Graph& graph;
  UOp sink;
  const Caps& caps;
  std::vector<ChosenOpt> opts;

  /// Applies and records an opt, and in a phrase why; false (nothing changed) when it is not legal.
  bool apply(OptKind kind, OptArgs args, std::string why);
  bool apply(OptKind kind, uint32_t rangeId, int64_t amount, std::string why);

  /// The number of the axis whose range has this id, which splits keep for the outer part; -1 when there is
  /// none.
  int32_t numberOf(uint32_t rangeId) const;
  /// The range with this id.
  UOp range(uint32_t rangeId) const;
};

/// The largest power of two that is not above n > 0.
inline int64_t powerBelow(int64_t n) { return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n))); }

inline uint32_t idOf(UOp range) { return range.argAs<AxisArg>().id; }

/// The loop directly inside of another one: of a tile, the one that keeps no id.
UOp loopInside(const Chooser& chooser, uint32_t loop);
/// The loop inside of a tile of `amount` iterations; the loop itself where it has no more than that.
uint32_t innerOfTile(Chooser& chooser, uint32_t loop, int64_t amount, std::string why);

}  // namespace svod
