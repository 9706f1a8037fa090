#include "schedule/scheduler.h"

#include "schedule/order.h"
#include "schedule/produce.h"
#include "schedule/storage_map.h"

namespace svod {

Result<Schedule> scheduleOf(Model& model, UOp sink, const Fusion& fusion) {
  const std::vector<UOp> nodes = toposort(sink);
  const LoopTree loops(nodes);
  Counters counters(model);
  std::set<uint32_t> snapshots;  // contents of states that are copied before they are overwritten, by node id
  for (;;) {
    Schedule schedule;
    StorageMap storage(model, nodes, fusion, schedule);
    std::vector<Producer> producers = ItemMaker(model, fusion, storage, counters, schedule).run(nodes, snapshots);
    const size_t before = snapshots.size();
    SVOD_TRY(schedule.items, orderItems(model, loops, producers, counters, schedule, snapshots));
    if (snapshots.size() == before) return schedule;
  }
}

}  // namespace svod
