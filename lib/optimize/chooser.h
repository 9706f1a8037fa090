// Shared by the parts of the heuristic: the kernel as changed so far and the opts that did it.
#pragma once
#include <vector>

#include "optimize/axes.h"
#include "optimize/opt.h"

namespace svod {

struct Chooser {
  Graph& graph;
  UOp sink;
  const Caps& caps;
  std::vector<OptOp> opts;

  /// Applies and records an opt; false (nothing changed) when it is not legal.
  bool apply(OptKind kind, OptArgs args);
  bool apply(OptKind kind, uint32_t rangeId, int64_t amount);

  /// The number of the axis whose range has this id, which splits keep for the outer part; -1 when there is
  /// none.
  int32_t numberOf(uint32_t rangeId) const;
  /// The range with this id.
  UOp range(uint32_t rangeId) const;
};

inline uint32_t idOf(UOp range) { return range.argAs<AxisArg>().id; }

/// Joins output and reduce loops that every access walks as one contiguous loop.
void mergeLoops(Chooser& chooser);

/// Vector axes, the register tile and, for matrix products, loop order and packed panel.
void tileForVectors(Chooser& chooser);

/// Tiles for worker threads.
void splitForThreads(Chooser& chooser);

/// A grid and workgroups.
void fillGrid(Chooser& chooser);

}  // namespace svod
