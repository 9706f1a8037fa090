// The loops of a kernel as opts number them.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/ranges.h"

namespace svod {

/// What closes a loop: a store's End, a Reduce, or a Fill that fills a local buffer.
enum class Nest : uint8_t { Output, Reduce, Fill };

struct Axis {
  UOp range;
  Nest nest;
};

/// The numbered axes of a kernel: output loops in nest order, then the loops of reduces, then those of
/// fills; several reduces (or fills) come by their lowest range id. Ranges that are expanded into values
/// (Upcast, Vector, Unroll, ..) and those dealt to lanes or threads (Warp, Spread) are not numbered, so upcast, vector,
/// unroll and tc renumber nothing; tile puts the inner axis right after the outer one. A split keeps the range id for
/// the outer part: numbers of other axes do not depend on earlier opts otherwise.
std::vector<Axis> axesOf(UOp sink);
std::vector<Axis> axesOf(std::span<const UOp> nodes);  // of the kernel, in the order of toposort()

/// `0 loop 512, 1 loop 512, 2 reduce 256`; a symbolic extent prints its maximum as `<=64`.
std::string describeAxes(UOp sink);
/// The same with a name for each range after its number, where there is one.
std::string describeAxes(UOp sink, const std::function<std::string_view(UOp)>& nameOf);

/// The nodes that close `range` (End, Reduce, Fill), in a structural order.
std::vector<UOp> closersOf(UOp sink, UOp range);
std::vector<UOp> closersOf(std::span<const UOp> nodes, UOp range);

bool isExpanded(AxisType type);       // Upcast, Vector, Unroll, Dot, Core
bool isThreadOfGroup(AxisType type);  // Local, Group, Warp
/// The extent if it is a constant.
std::optional<int64_t> constExtent(UOp range);
int64_t maxExtent(UOp range);
/// A loop that is to run in steps of `width` lanes.
struct Lanes {
  UOp range;
  int64_t width;
};
/// The vector axes of a kernel whose opts were applied.
std::vector<Lanes> lanesOf(UOp sink);
std::vector<Lanes> lanesOf(std::span<const UOp> nodes);

}  // namespace svod
