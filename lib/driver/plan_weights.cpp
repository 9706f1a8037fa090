#include "driver/plan_weights.h"

#include <algorithm>

#include "driver/compile.h"
#include "driver/weight_copies.h"

namespace svod {

PlanWeights::PlanWeights(const Model& model, const Schedule& schedule, std::span<const PlannedKernel> kernels,
                         const PlanOptions& options, WeightsLayout& layout, std::deque<LargeBytes>& constants)
    : model_(model), kernels_(kernels), layout_(layout), constants_(constants), held_(weightsHeld(model, schedule)),
      isPlain_(schedule.buffers.size()), isReordered_(schedule.buffers.size()) {
  for (const ScheduleItem& item : schedule.items) {
    if (item.kind == ItemKind::Copy && held_[static_cast<size_t>(item.args[0])] >= 0) continue;
    for (size_t slot = 0; slot < item.args.size(); ++slot) {
      const int weight = held_[static_cast<size_t>(item.args[slot])];
      const auto read = [&](bool inOrder) {
        (inOrder ? isReordered_ : isPlain_)[static_cast<size_t>(weight >= 0 ? weight : item.args[slot])] = true;
      };
      if (item.kind != ItemKind::Launch) {
        read(false);
        continue;
      }
      const auto readBy = [&](size_t kernel) {
        read(orderOf(KernelId(kernel), slot) != nullptr);
        for (const PlannedVariant& variant : options.variants) read(orderOf(variant.kernels[kernel], slot) != nullptr);
      };
      const auto own = static_cast<size_t>(item.kernel);
      readBy(own);
      if (own < options.cases.size())
        for (const KernelCase& one : options.cases[own]) readBy(one.kernel);
    }
  }
}

const ConstantLayout* PlanWeights::orderOf(KernelId kernel, size_t slot) const {
  const std::span<const ConstantLayout> layouts = kernels_[kernel].layouts;
  auto at = std::ranges::find(layouts, slot, &ConstantLayout::slot);
  return at == layouts.end() ? nullptr : &*at;
}

BufferId PlanWeights::bufferFor(const ScheduleItem& launch, KernelId kernel, size_t slot, Rows<BufferDesc>& buffers) {
  const auto argument = static_cast<BufferId>(launch.args[slot]);
  const ConstantLayout* order = orderOf(kernel, slot);
  if (!order) return argument;
  const auto weight = static_cast<BufferId>(held_[argument]);
  const Reordered* same = nullptr;
  for (const Reordered& r : reordered_) {
    if (r.weight != weight || r.order->dims != order->dims || r.order->table != order->table) continue;
    if (r.argument == argument) return r.buffer;
    same = &r;
  }
  BufferDesc d = buffers[same != nullptr ? same->buffer : weight];
  if (same == nullptr) {
    const ConstData& data = model_.ports[weight].data;
    d.shape = {static_cast<uint64_t>(order->elements())};
    d.bytes = memoryBytes(d.dtype, d.shape[0]);
    constants_.push_back(laidOut(*order, {data.data, data.bytes}, byteSize(d.dtype)));
    d.constant = layout_.add(constants_.back());
  }
  const bool takesPlace =
      !isPlain_[weight] && std::ranges::none_of(reordered_, [&](const Reordered& r) { return r.weight == weight; });
  const BufferId id = takesPlace ? weight : static_cast<BufferId>(buffers.size());
  if (takesPlace)
    buffers[id] = std::move(d);
  else
    buffers.push_back(std::move(d));
  reordered_.push_back({weight, argument, order, id});
  return id;
}

WeightCopies PlanWeights::copies() const {
  WeightCopies copies;
  for (BufferId id = 0; id < held_.size(); ++id)
    if (const int weight = held_[id]; weight >= 0 && BufferId(weight) != id) copies.weightOf[id] = BufferId(weight);
  for (const Reordered& r : reordered_)
    if (r.argument != r.weight) copies.standsFor[r.buffer] = r.argument;
  return copies;
}

}  // namespace svod
