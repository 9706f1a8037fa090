#include "plan/variants.h"

namespace svod {

std::vector<Processor> processorsOf(const Plan& plan) {
  std::vector<Processor> processors = {{plan.target.cpu, plan.target.features}};
  for (const Variant& variant : plan.variants) processors.push_back({variant.cpu, variant.features});
  return processors;
}

std::optional<size_t> bestOf(std::span<const Processor> processors, std::span<const std::vector<std::string>> missing) {
  std::optional<size_t> best;
  for (size_t i = 0; i < processors.size(); i++)
    if (missing[i].empty() && (!best || processors[i].features.size() > processors[*best].features.size())) best = i;
  return best;
}

void takeVariant(Plan& plan, size_t processor) {
  if (processor > 0) {
    Variant& variant = plan.variants[processor - 1];
    plan.target.cpu = std::move(variant.cpu);
    plan.target.features = std::move(variant.features);
    for (VariantLaunch& instead : variant.launches) plan.steps[instead.step].action = std::move(instead.launch);
  }
  plan.variants.clear();
}

}  // namespace svod
