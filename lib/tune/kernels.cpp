#include "tune/kernels.h"

#include <algorithm>

#include "driver/plan_price.h"
#include "driver/tuned_opts.h"

namespace svod {

std::map<std::string, int64_t> launchesOf(const Compilation& compilation) {
  std::map<std::string, int64_t> launches;
  std::vector<std::string> hashes;
  for (const CompiledKernel& kernel : compilation.kernels) hashes.push_back(tuningHash(kernel));
  for (const ScheduleItem& item : compilation.schedule.items)
    if (item.kind == ItemKind::Launch && static_cast<size_t>(item.kernel) < hashes.size())  // others are functions in C
      ++launches[hashes[static_cast<size_t>(item.kernel)]];
  return launches;
}

std::vector<TuneKernel> kernelsToTune(std::span<const BuiltGraph* const> builds) {
  std::vector<TuneKernel> all;
  for (const BuiltGraph* build : builds) {
    for (const CompiledKernel& kernel : build->compilation->kernels) {
      std::string hash = tuningHash(kernel);
      if (std::ranges::find(all, hash, &TuneKernel::hash) != all.end()) continue;
      all.push_back({build, &kernel, std::move(hash), 0, predictedTime(kernel, build->options)});
    }
    for (const auto& [hash, count] : launchesOf(*build->compilation))
      std::ranges::find(all, hash, &TuneKernel::hash)->launches += count;
  }
  std::ranges::stable_sort(all, std::greater(), &TuneKernel::weight);
  return all;
}

std::vector<TuneKernel> kernelsToTune(const std::deque<TuneGraph>& graphs) {
  std::vector<const BuiltGraph*> builds;
  for (const TuneGraph& graph : graphs) builds.push_back(&graph.usual);
  return kernelsToTune(builds);
}

std::string shortName(const std::string& name, size_t longest) {
  constexpr std::string_view kDots = "..";
  if (name.size() <= longest) return name;
  const size_t kept = longest - std::min(longest, kDots.size()), end = kept / 2;
  return name.substr(0, kept - end) + std::string(kDots) + name.substr(name.size() - end);
}

}  // namespace svod
