#include "driver/needed_features.h"

#include <algorithm>

#include "ir/tile_unit.h"
#include "support/cpu_features.h"

namespace svod {

std::vector<std::string> neededFeatures(const CpuTarget& cpu, std::span<const CompiledKernel> kernels) {
  std::vector<std::string> features = cpu.features;
  const auto hasTiles = [](const CompiledKernel& kernel) { return kernel.desc.opts.find("tc(") != std::string::npos; };
  if (std::ranges::any_of(kernels, hasTiles)) return features;
  std::erase_if(features, [](const std::string& feature) {
    return feature == kTileFeature ||
           std::ranges::find(allTileUnits(), feature, &TileUnit::feature) != allTileUnits().end();
  });
  return features;
}

}  // namespace svod
