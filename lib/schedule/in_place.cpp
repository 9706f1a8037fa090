#include "schedule/in_place.h"

#include <algorithm>

namespace svod {

std::vector<int> overwritableArgs(UOp sink) {
  std::vector<UOp> nodes = toposort(sink), loads;
  UOp store;
  for (UOp n : nodes) {
    if (n.op() == Op::Reduce || n.op() == Op::After || (n.op() == Op::Store && store)) return {};
    if (n.op() == Op::Store) store = n;
    if (n.op() == Op::Load) loads.push_back(n);
  }
  if (!store) return {};
  UOp result = storageOf(store.src(0)), at = store.src(0).src(1);
  std::vector<int> slots;
  for (UOp n : nodes) {
    if (n.op() != Op::Param || n == result || byteSize(n.dtype()) != byteSize(result.dtype())) continue;
    const bool isReadThere =
        std::ranges::all_of(loads, [&](UOp load) { return storageOf(load.src(0)) != n || load.src(0).src(1) == at; });
    if (isReadThere) slots.push_back(static_cast<int>(n.argAs<SlotArg>().slot));
  }
  std::ranges::sort(slots);
  return slots;
}

namespace {

int resultSlot(const ScheduleItem& item) {
  return static_cast<int>(std::find(item.writes.begin(), item.writes.end(), true) - item.writes.begin());
}

/// By buffer: the last item that touches it, also through a view; the end of the schedule if a loop does.
std::vector<size_t> lastUses(const Schedule& schedule) {
  std::vector<size_t> last(schedule.buffers.size());
  size_t loopEnd = 0;
  for (size_t i = 0; i < schedule.items.size(); ++i) {
    const ScheduleItem& item = schedule.items[i];
    if (item.kind == ItemKind::Loop) loopEnd = std::max(loopEnd, i + 1 + item.length);
    for (int buffer : item.args)
      last[static_cast<size_t>(ownerOf(schedule, buffer))] = i < loopEnd ? schedule.items.size() : i;
  }
  return last;
}

}  // namespace

void offerInPlace(Schedule& schedule) {
  const std::vector<size_t> last = lastUses(schedule);
  std::vector<bool> isOffered(schedule.kernels.size());
  for (size_t i = 0; i < schedule.items.size(); ++i) {
    ScheduleItem& item = schedule.items[i];
    if (item.kind != ItemKind::Launch) continue;
    const auto buffer = [&](int slot) -> const ScheduleBuffer& {
      return schedule.buffers[static_cast<size_t>(item.args[static_cast<size_t>(slot)])];
    };
    const ScheduleBuffer& result = buffer(resultSlot(item));
    for (int slot : schedule.kernels[static_cast<size_t>(item.kernel)].inPlace) {
      const ScheduleBuffer& source = buffer(slot);
      if (source.port >= 0 || source.viewOf >= 0 || result.port >= 0 || source.maxElements != result.maxElements)
        continue;
      if (last[static_cast<size_t>(item.args[static_cast<size_t>(slot)])] != i) continue;
      item.overwrites =
          slot;  // the last of several: it was computed last, so its place is the most likely one to be free
      isOffered[static_cast<size_t>(item.kernel)] = true;
    }
  }
  for (size_t k = 0; k < schedule.kernels.size(); ++k)
    if (!isOffered[k]) schedule.kernels[k].inPlace.clear();
}

}  // namespace svod
