// Values held in buffers local to a kernel, and copies of expressions with loops of their own.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "opts/opt.h"

namespace svod {

/// A slot no local buffer of the kernel has.
uint32_t nextBufferSlot(UOp sink);

/// An expression with ranges of its own in place of some it depends on and of the loops of reduces inside of it, and
/// with buffers of its own.
struct Renamed {
  UOp value;
  std::vector<UOp> ranges;                  // in place of those
  std::vector<std::pair<UOp, UOp>> copies;  // all ranges with others in their place, and those
  uint32_t slot;                            // that is free for one more buffer
};
Renamed withOwnRanges(Graph& graph, UOp sink, UOp value, std::span<const UOp> closed,
                      const std::function<AxisType(UOp)>& typeOf);

/// The loops of a buffer called `label`.
std::vector<MadeLoop> madeOf(std::span<const std::pair<UOp, UOp>> copies, const std::string& label);

/// A value in a local buffer: for each range of `closed`, a copy of it counts through one dim of the buffer.
struct LocalCopy {
  UOp fill;
  std::vector<UOp> closed;
  std::vector<std::pair<UOp, UOp>> copies;  // of Renamed

  /// The element at `at`, one index for each of `closed`.
  UOp read(Graph& g, std::span<const UOp> at) const { return g.load(g.indexRowMajor(fill, closed, at)); }
};
LocalCopy makeLocalCopy(Graph& graph, UOp sink, UOp value, std::vector<UOp> closed);

}  // namespace svod
