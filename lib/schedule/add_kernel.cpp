#include "schedule/add_kernel.h"

#include "ir/shape.h"

#include "schedule/in_place.h"
#include "schedule/name.h"

namespace svod {

int addKernel(Schedule& schedule, std::map<Hash128, int>& known, std::unique_ptr<Graph> graph, UOp sink,
              const std::string& label) {
  auto [it, isNew] = known.try_emplace(sink.hash(), static_cast<int>(schedule.kernels.size()));
  if (isNew) schedule.kernels.push_back({std::move(graph), sink, kernelName(sink, label), overwritableArgs(sink)});
  return it->second;
}

void markAccesses(ScheduleItem& item, UOp sink) {
  item.writes.assign(item.args.size(), false);
  item.reads.assign(item.args.size(), false);
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Store && n.op() != Op::Load) continue;
    UOp storage = storageOf(n.src(0));
    if (storage.op() == Op::Param)
      (n.op() == Op::Store ? item.writes : item.reads)[storage.argAs<SlotArg>().slot] = true;
  }
}

}  // namespace svod
