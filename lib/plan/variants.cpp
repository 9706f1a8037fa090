#include "plan/variants.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace svod {

std::vector<Processor> processorsOf(const Plan& plan) {
  std::vector<Processor> processors = {{plan.target.cpu, plan.target.features}};
  for (const Variant& variant : plan.variants) processors.push_back({variant.cpu, variant.features});
  return processors;
}

std::vector<size_t> byPreference(std::span<const Processor> processors) {
  std::vector<size_t> order(processors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return processors[i].features.size(); });
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
