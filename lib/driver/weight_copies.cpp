#include "driver/weight_copies.h"

namespace svod {

std::vector<int> weightsHeld(const Model& model, const Schedule& schedule) {
  const std::vector<ScheduleBuffer>& buffers = schedule.buffers;
  std::vector<int> writers(buffers.size(), 0), held(buffers.size(), -1);
  std::vector<bool> isOwn(buffers.size(), true);
  for (size_t id = 0; id < buffers.size(); ++id) {
    const ScheduleBuffer& buffer = buffers[id];
    if (buffer.viewOf >= 0) isOwn[id] = isOwn[static_cast<size_t>(buffer.viewOf)] = false;
    if (buffer.port < 0) continue;
    const PortKind kind = model.ports[static_cast<size_t>(buffer.port)].kind;
    if (kind != PortKind::Temporary) isOwn[id] = false;
    if (kind == PortKind::Weight) held[id] = static_cast<int>(id);
  }
  for (const ScheduleLoop& loop : schedule.loops)
    if (loop.condition >= 0) isOwn[static_cast<size_t>(ownerOf(schedule, loop.condition))] = false;
  for (const ScheduleItem& item : schedule.items)
    for (size_t i = 0; i < item.args.size(); ++i)
      if (item.kind == ItemKind::Copy ? i == 0 : i < item.writes.size() && item.writes[i])
        writers[static_cast<size_t>(ownerOf(schedule, item.args[i]))]++;
  for (const ScheduleItem& item : schedule.items) {
    if (item.kind != ItemKind::Copy) continue;
    const auto to = static_cast<size_t>(item.args[0]);
    const int weight = held[static_cast<size_t>(item.args[1])];
    if (weight < 0 || !isOwn[to] || writers[to] != 1) continue;
    const ScheduleBuffer& from = buffers[static_cast<size_t>(weight)];
    if (from.dtype == buffers[to].dtype && from.maxElements >= buffers[to].maxElements) held[to] = weight;
  }
  return held;
}

}  // namespace svod
