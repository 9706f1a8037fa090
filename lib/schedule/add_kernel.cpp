#include "schedule/add_kernel.h"

#include <algorithm>

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

bool isIdle(UOp end) {
  return end.op() == Op::End &&
         std::ranges::any_of(end.src().subspan(1), [](UOp range) { return range.src(0).bounds().max <= 0; });
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

namespace {

void removeUnusedKernels(Schedule& schedule) {
  std::map<int, int> place;
  std::vector<Kernel> used;
  for (ScheduleItem& item : schedule.items) {
    if (item.kind != ItemKind::Launch) continue;
    auto [it, isNew] = place.try_emplace(item.kernel, static_cast<int>(used.size()));
    if (isNew) used.push_back(std::move(schedule.kernels[static_cast<size_t>(item.kernel)]));
    item.kernel = it->second;
  }
  schedule.kernels = std::move(used);
}

}  // namespace

void removeItems(Schedule& schedule, const std::set<size_t>& launches) {
  std::vector<ScheduleItem> left;
  for (size_t i = 0; i < schedule.items.size(); ++i) {
    ScheduleItem& item = schedule.items[i];
    if (launches.contains(i)) continue;
    if (item.kind == ItemKind::Loop) {
      const auto body = std::distance(launches.lower_bound(i), launches.upper_bound(i + item.length));
      item.length -= static_cast<size_t>(body);
    }
    left.push_back(std::move(item));
  }
  schedule.items = std::move(left);
  removeUnusedKernels(schedule);
}

}  // namespace svod
