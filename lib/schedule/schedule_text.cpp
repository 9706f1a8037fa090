// Text of a schedule.
#include "ir/text.h"
#include "schedule/schedule.h"

namespace svod {

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
    for (size_t a = 0; a < item.args.size(); ++a) out += (item.writes[a] ? " >b" : " b") + std::to_string(item.args[a]);
    if (item.overwrites >= 0) out += " over b" + std::to_string(item.args[static_cast<size_t>(item.overwrites)]);
    out += "\n";
  }
  for (const Kernel& k : s.kernels) out += "\nkernel " + k.name + "\n" + toUopText(k.sink);
  return out;
}

}  // namespace svod
