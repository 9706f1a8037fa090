// Text of a schedule, and the labels of its values.
#include "ir/text.h"
#include "schedule/fuse.h"
#include "schedule/schedule.h"
#include "schedule/scheduler.h"

namespace svod {

// A value without a name of its own is a step towards the first named value that uses it.
void Scheduler::nameNodes() {
  labels_ = model_.labels;
  for (size_t i = nodes_.size(); i-- > 0;) {
    UOp n = nodes_[i];
    if (n.op() == Op::Store && n.src(0).op() == Op::Buffer)
      labels_.try_emplace(n.id(), labelOf(n.src(0)));
    auto it = labels_.find(n.id());
    if (it == labels_.end()) continue;
    for (UOp s : n.src())
      if (!isStorage(s)) labels_.try_emplace(s.id(), it->second);
  }
}

std::string Scheduler::labelOf(UOp node) const {
  if (auto it = labels_.find(node.id()); it != labels_.end()) return it->second;
  if (node.op() == Op::Buffer) return model_.ports[node.argAs<SlotArg>().slot].name;
  return std::string(toText(node.op()));
}

std::string toText(const Schedule& s) {
  std::string out;
  for (size_t i = 0; i < s.buffers.size(); ++i) {
    const ScheduleBuffer& b = s.buffers[i];
    out += "buffer b" + std::to_string(i) + " " + std::string(toText(b.dtype)) + "[" + std::to_string(b.maxElements) +
           "] " + b.name + (b.port < 0 ? " temporary\n" : "\n");
  }
  std::vector<std::ptrdiff_t> ends;  // of the open loops, innermost last
  for (const ScheduleItem& item : s.items) {
    while (!ends.empty() && ends.back() == &item - s.items.data()) ends.pop_back();
    out.append(2 * ends.size(), ' ');
    if (item.kind == ItemKind::Loop) {
      const ScheduleLoop& loop = s.loops[item.kernel];
      out += "loop " + loop.counter + " < " + toExpr(loop.count);
      if (loop.condition >= 0) out += " while b" + std::to_string(loop.condition);
      out += "\n";
      ends.push_back(&item - s.items.data() + 1 + static_cast<std::ptrdiff_t>(item.length));
      continue;
    }
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
