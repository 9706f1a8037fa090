#include "choose/shared_places.h"

#include "cost/cost.h"
#include "cost/parameters.h"

namespace svod {

namespace {

/// What iterations of a loop repeat: the work of loops inside of it that does not depend on it, beside what does.
struct Repeated {
  double alike = 0, own = 0;

  bool isWorthBlocks() const { return alike >= parameters::kWorthSharing && alike >= parameters::kMostlyAlike * own; }
};

Repeated repeatedBy(const KernelFacts& kernel, size_t axis) {
  const UOp loop = kernel.axes[axis].range;
  const auto isInside = [&](UOp n) {
    for (size_t i = axis + 1; i < kernel.axes.size(); ++i)
      if (n.dependsOn(kernel.axes[i].range)) return true;
    return false;
  };
  Repeated found;
  for (UOp n : kernel.nodes) {
    if (n.dependsOn(loop))
      found.own += opWeight(n);
    else if (isInside(n))
      found.alike += opWeight(n);
  }
  return found;
}

}  // namespace

bool sharePlaces(Chooser& c) {
  const KernelFacts& kernel = c.facts();
  if (c.pattern() != Pattern::Gather || !kernel.reduces.empty() || !kernel.fills.empty()) return false;
  for (size_t i = 0; i + 1 < kernel.axes.size(); ++i) {
    const UOp loop = kernel.axes[i].range;
    const std::optional<int64_t> extent = constExtent(loop);
    if (!extent || *extent < parameters::kSharedPlaces / 4 || !repeatedBy(kernel, i).isWorthBlocks()) continue;
    std::vector<uint32_t> inside;
    for (size_t j = i + 1; j < kernel.axes.size(); ++j) inside.push_back(idOf(kernel.axes[j].range));
    return attempt(c, [&](Chooser& trial) {
      constexpr const char* kWhy = "places are computed once for a block of these";
      inside.push_back(trial.innerOfTile(idOf(loop), parameters::kSharedPlaces, kWhy));
      AxisList order;
      for (uint32_t id : inside) order.axes.push_back(trial.numberOf(id));
      return trial.apply(OptKind::Order, order, kWhy);
    });
  }
  return false;
}

}  // namespace svod
