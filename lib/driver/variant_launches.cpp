#include "driver/variant_launches.h"

#include "plan/variants.h"

namespace svod {

namespace {

/// How the buffers of a launch of the plan were exchanged.
struct Exchange {
  std::span<const BufferId> made, now;
  const std::map<BufferId, BufferId>& weightOf;

  void apply(Launch& launch) const {
    for (size_t slot = 0; slot < launch.buffers.size(); ++slot) {
      BufferId& buffer = launch.buffers[slot];
      if (buffer == made[slot]) buffer = now[slot];
      if (const auto weight = weightOf.find(buffer); weight != weightOf.end()) buffer = weight->second;
    }
    applyToCases(launch);
  }
  void applyToCases(Launch& launch) const {
    for (LaunchCase& one : launch.cases) apply(one.launch);
  }
};

}  // namespace

void VariantLaunches::finish(Plan& plan, const std::map<BufferId, BufferId>& weightOf) {
  std::vector<Variant> variants;
  for (const PlannedVariant& variant : variants_) variants.push_back({variant.cpu, variant.features, {}});
  size_t at = 0;
  for (StepId step = 0; step < plan.steps.size(); ++step) {
    auto* own = std::get_if<Launch>(&plan.steps[step].action);
    if (own == nullptr) continue;
    const Exchange exchange{own_[at], own->buffers, weightOf};
    exchange.applyToCases(*own);
    for (size_t v = 0; v < variants.size(); ++v) {
      if (variants[v].cpu.empty()) continue;  // no kernel runs there
      Launch& launch = others_[v][at];
      exchange.apply(launch);
      if (!(launch == *own)) variants[v].launches.push_back({step, std::move(launch)});
    }
    ++at;
  }
  // The name of a processor is worth an entry; that of an architecture stands at its images.
  for (Variant& variant : variants)
    if (!variant.cpu.empty() && !(isForDevice(variant) && variant.launches.empty()))
      plan.variants.push_back(std::move(variant));
}

}  // namespace svod
