#include "choose/strategy.h"

namespace svod {

bool fits(const Strategy& strategy, const KernelFacts& kernel, const Caps& caps) {
  const bool isThere = strategy.on == On::Any || strategy.on == (caps.workgroups ? On::Gpu : On::Cpu) ||
                       (strategy.on == On::TensorCores && caps.workgroups && !caps.cores.empty());
  if (!isThere) return false;
  const auto order = kernel.hasSerial() ? LoopOrder::Serial : LoopOrder::Free;
  if (strategy.order != LoopOrder::Any && strategy.order != order) return false;
  return !strategy.suits || strategy.suits(kernel, caps);
}

void runAll(std::span<const Strategy> steps, Chooser& c) {
  for (const Strategy& step : steps)
    if (fits(step, c.facts(), c.caps)) step.run(c);
}

}  // namespace svod
