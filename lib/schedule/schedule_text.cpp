// Text of a schedule, and the labels of its values.
#include "ir/text.h"
#include "schedule/schedule.h"
#include "schedule/scheduler.h"

namespace svod {

std::string Scheduler::labelOf(UOp node) const {
  for (int steps = 0; steps < 64; ++steps) {
    if (auto it = model_.labels.find(node.id()); it != model_.labels.end()) return it->second;
    if (node.op() == Op::Buffer) return model_.ports[node.argAs<SlotArg>().slot].name;
    if (node.srcCount() == 0) break;
    node = node.op() == Op::Store ? node.src(1) : node.src(0);
  }
  return std::string(toText(node.op()));
}

std::string toText(const Schedule& s) {
  std::string out;
  for (size_t i = 0; i < s.buffers.size(); ++i) {
    const ScheduleBuffer& b = s.buffers[i];
    out += "buffer b" + std::to_string(i) + " " + std::string(toText(b.dtype)) + "[" + std::to_string(b.maxElements) +
           "] " + b.name + (b.port < 0 ? " temporary\n" : "\n");
  }
  for (const ScheduleItem& item : s.items) {
    out += item.kind == ItemKind::Launch ? "launch " + s.kernels[item.kernel].name
           : item.kind == ItemKind::Copy ? std::string("copy")
                                         : "host " + item.function;
    for (size_t a = 0; a < item.args.size(); ++a)
      out += (item.writes[a] ? " >b" : " b") + std::to_string(item.args[a]);
    out += "\n";
  }
  for (const Kernel& k : s.kernels) out += "\nkernel " + k.name + "\n" + toUopText(k.sink);
  return out;
}

}  // namespace svod
