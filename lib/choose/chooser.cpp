#include "choose/chooser.h"

#include <algorithm>
#include <bit>

#include "constants/constant_layout.h"
#include "opts/replay.h"

namespace svod {

bool Chooser::apply(OptKind kind, OptArgs args, std::string why) {
  const OptOp opt{kind, std::move(args)};
  Result<AppliedOpt> changed = tryOpt(graph, NamedKernel(sink, names), opt, caps);
  if (!changed) return false;
  sink = changed->kernel.sink, names = std::move(changed->kernel.names), made = std::move(changed->made);
  opts.push_back({std::move(changed->opt), std::move(why)});
  return true;
}

void Chooser::keep(Chooser&& trial) {
  sink = trial.sink, names = std::move(trial.names), opts = std::move(trial.opts), made = std::move(trial.made);
  branches = trial.branches;
}

UOp Chooser::madePart(std::string_view label) const {
  auto at =
      std::ranges::find_if(made, [&](const MadeLoop& m) { return m.how == MadeLoop::How::Part && m.label == label; });
  return at == made.end() ? UOp() : at->range;
}

UOp Chooser::madeCopy(UOp from) const {
  auto at =
      std::ranges::find_if(made, [&](const MadeLoop& m) { return m.how == MadeLoop::How::Copy && m.from[0] == from; });
  return at == made.end() ? UOp() : at->range;
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

uint32_t Chooser::innerOfTile(uint32_t loop, int64_t amount, std::string why) {
  if (maxExtent(range(loop)) <= amount || !apply(OptKind::Tile, loop, amount, std::move(why))) return loop;
  return idOf(inner());
}

uint32_t Chooser::constantTile(uint32_t loop, int64_t amount, std::string why) {
  const int64_t most = std::max<int64_t>(1, maxExtent(range(loop)));
  if (constExtent(range(loop)) || most > amount) return innerOfTile(loop, amount, std::move(why));
  const auto whole = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(most)));
  return apply(OptKind::Tile, loop, std::min(amount, whole), std::move(why)) ? idOf(inner()) : loop;
}

std::vector<uint32_t> Chooser::laidOut() const {
  std::vector<uint32_t> slots = caps.constants;
  std::erase_if(slots, [&](uint32_t slot) { return !readingOrder(graph, sink, slot); });
  return slots;
}

bool Chooser::isLaidOut(uint32_t slot) const {
  return std::ranges::find(caps.constants, slot) != caps.constants.end() && readingOrder(graph, sink, slot);
}

}  // namespace svod
