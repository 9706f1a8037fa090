#include "plan/variants.h"

#include <utility>

namespace svod {

std::vector<Processor> processorsOf(const Plan& plan) {
  std::vector<Processor> processors = {{plan.target.cpu, plan.target.features}};
  for (const Variant& variant : plan.variants) processors.push_back({variant.cpu, variant.features});
  return processors;
}

// Sorted by insertion: there are few, and std::stable_sort would be 3 KB of the runtime.
std::vector<size_t> byPreference(std::span<const Processor> processors) {
  std::vector<size_t> order(processors.size());
  const auto features = [&](size_t place) { return processors[order[place]].features.size(); };
  for (size_t i = 0; i < order.size(); i++) {
    order[i] = i;
    for (size_t at = i; at > 0 && features(at - 1) < features(at); at--) std::swap(order[at - 1], order[at]);
  }
  return order;
}

std::optional<size_t> bestOf(std::span<const Processor> processors, std::span<const std::vector<std::string>> missing) {
  for (size_t i : byPreference(processors))
    if (missing[i].empty()) return i;
  return std::nullopt;
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
