#include "plan/variants.h"

#include <utility>

#include "support/says.h"

namespace svod {

std::string variantName(std::string_view deviceKind, std::string_view arch) { return says({deviceKind, ":", arch}); }

size_t deviceVariants(const Plan& plan) {
  size_t count = 0;
  while (count < plan.variants.size() && isForDevice(plan.variants[count])) count++;
  return count;
}

std::vector<Processor> processorsOf(const Plan& plan) {
  std::vector<Processor> processors = {{plan.target.cpu, plan.target.features}};
  for (const Variant& variant : plan.variants)
    if (!isForDevice(variant)) processors.push_back({variant.cpu, variant.features});
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
  const size_t ofDevices = deviceVariants(plan);
  if (processor > 0) {
    Variant& variant = plan.variants[ofDevices + processor - 1];
    plan.target.cpu = std::move(variant.cpu);
    plan.target.features = std::move(variant.features);
    for (VariantLaunch& instead : variant.launches) plan.steps[instead.step].action = std::move(instead.launch);
  }
  while (plan.variants.size() > ofDevices) plan.variants.pop_back();
}

void takeArch(Plan& plan, DeviceId device, std::string_view arch) {
  const std::string name = variantName(plan.devices[device].kind, arch);
  for (Variant& variant : plan.variants) {
    if (variant.cpu != name) continue;
    for (VariantLaunch& instead : variant.launches) {
      auto& launch = std::get<Launch>(plan.steps[instead.step].action);
      if (deviceOf(plan, launch) == device) launch = std::move(instead.launch);
    }
  }
}

}  // namespace svod
