#include "driver/variant_launches.h"

#include "plan/variants.h"

namespace svod {

void VariantLaunches::addVariants(Plan& plan, const std::map<BufferId, BufferId>& weightOf) {
  for (size_t v = 0; v < variants_.size(); ++v) {
    if (variants_[v].cpu.empty()) continue;  // no kernel runs there
    Variant& variant = plan.variants.emplace_back(Variant{variants_[v].cpu, variants_[v].features, {}});
    size_t at = 0;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
      const auto* own = std::get_if<Launch>(&plan.steps[step].action);
      if (own == nullptr) continue;
      Launch& launch = others_[v][at];
      for (size_t slot = 0; slot < launch.buffers.size(); ++slot) {
        BufferId& buffer = launch.buffers[slot];
        if (buffer == own_[at].buffers[slot]) buffer = own->buffers[slot];
        if (const auto weight = weightOf.find(buffer); weight != weightOf.end()) buffer = weight->second;
      }
      if (!(launch == *own)) variant.launches.push_back({step, std::move(launch)});
      ++at;
    }
    // The name of a processor is worth an entry; that of an architecture stands at its images.
    if (isForDevice(variant) && variant.launches.empty()) plan.variants.pop_back();
  }
}

}  // namespace svod
