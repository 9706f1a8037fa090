#include "schedule/add_kernel.h"

#include "schedule/in_place.h"
#include "schedule/name.h"

namespace svod {

int addKernel(Schedule& schedule, std::map<Hash128, int>& known, std::unique_ptr<Graph> graph, UOp sink,
              const std::string& label) {
  auto [it, isNew] = known.try_emplace(sink.hash(), static_cast<int>(schedule.kernels.size()));
  if (isNew) schedule.kernels.push_back({std::move(graph), sink, kernelName(sink, label), overwritableArgs(sink)});
  return it->second;
}

}  // namespace svod
