#include "driver/schedule_kernels.h"

#include "driver/weight_copies.h"

namespace svod {

namespace {

/// Fills CompiledKernel::constants. Elements that share bytes stay where they are.
void findConstants(const Model& model, const Schedule& schedule, std::vector<CompiledKernel>& kernels) {
  const std::vector<int> held = weightsHeld(model, schedule);
  auto isWeight = [&](int buffer) {
    const auto id = static_cast<size_t>(buffer);
    return held[id] >= 0 && !isPacked(schedule.buffers[id].dtype);
  };
  std::vector<std::vector<bool>> isConstant(kernels.size());
  for (const ScheduleItem& item : schedule.items) {
    if (item.kind != ItemKind::Launch) continue;
    std::vector<bool>& slots = isConstant[static_cast<size_t>(item.kernel)];
    if (slots.empty()) slots.assign(item.args.size(), true);
    for (size_t slot = 0; slot < item.args.size(); ++slot) slots[slot] = slots[slot] && isWeight(item.args[slot]);
  }
  for (size_t k = 0; k < kernels.size(); ++k)
    for (size_t slot = 0; slot < isConstant[k].size(); ++slot)
      if (isConstant[k][slot]) kernels[k].constants.push_back(static_cast<uint32_t>(slot));
}

}  // namespace

std::vector<CompiledKernel> kernelsOf(const Model& model, Schedule& schedule) {
  std::vector<CompiledKernel> kernels;
  for (Kernel& k : schedule.kernels) {
    CompiledKernel kernel;
    kernel.name = k.name, kernel.inPlace = k.inPlace;
    // A graph whose ids depend on the content of the kernel alone, so that its code does as well: the cache relies on
    // it.
    kernel.graph = std::make_unique<Graph>();
    kernel.ast = kernel.graph->clone(k.sink);
    k.graph.reset(), k.sink = {};
    kernels.push_back(std::move(kernel));
  }
  findConstants(model, schedule, kernels);
  return kernels;
}

}  // namespace svod
