#include "choose/chooser.h"

#include <algorithm>

#include "opts/replay.h"

namespace svod {

bool Chooser::apply(OptKind kind, OptArgs args, std::string why) {
  OptOp opt{kind, std::move(args)};
  Result<UOp> changed = applyOpt(graph, sink, opt, caps);
  if (!changed) return false;
  sink = *changed;
  opts.push_back({std::move(opt), std::move(why)});
  return true;
}

int32_t Chooser::numberOf(uint32_t rangeId) const {
  const std::vector<Axis>& axes = facts().axes;
  auto at = std::ranges::find_if(axes, [&](const Axis& a) { return idOf(a.range) == rangeId; });
  return at == axes.end() ? -1 : static_cast<int32_t>(at - axes.begin());
}

bool Chooser::apply(OptKind kind, uint32_t rangeId, int64_t amount, std::string why) {
  int32_t number = numberOf(rangeId);
  return number >= 0 && apply(kind, AxisAmount{number, amount}, std::move(why));
}

UOp Chooser::range(uint32_t rangeId) const {
  int32_t number = numberOf(rangeId);
  return number < 0 ? UOp() : facts().axes[static_cast<size_t>(number)].range;
}

UOp loopInside(const Chooser& c, uint32_t loop) { return c.facts().axes[static_cast<size_t>(c.numberOf(loop)) + 1].range; }

uint32_t innerOfTile(Chooser& c, uint32_t loop, int64_t amount, std::string why) {
  if (maxExtent(c.range(loop)) <= amount || !c.apply(OptKind::Tile, loop, amount, std::move(why))) return loop;
  return idOf(loopInside(c, loop));
}

}  // namespace svod
