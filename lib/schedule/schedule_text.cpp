// Text of a schedule, also of one that breaks its rules: it is printed to find out why.
#include "ir/text.h"
#include "schedule/schedule.h"

namespace svod {

namespace {

std::string kernelName(const Schedule& s, int kernel) {
  const auto at = static_cast<size_t>(kernel);
  return at < s.kernels.size() ? s.kernels[at].name : "?" + std::to_string(kernel);
}

std::string viewText(const ScheduleBuffer& b) {
  return b.viewOf < 0 ? "" : " in b" + std::to_string(b.viewOf) + " at " + std::to_string(b.viewOffset);
}

std::string argsText(const ScheduleItem& item) {
  std::string out;
  for (size_t a = 0; a < item.args.size(); ++a)
    out += (a < item.writes.size() && item.writes[a] ? " >b" : " b") + std::to_string(item.args[a]);
  if (item.overwrites < 0) return out;
  const auto slot = static_cast<size_t>(item.overwrites);
  return out + " over " +
         (slot < item.args.size() ? "b" + std::to_string(item.args[slot]) : "argument " + std::to_string(slot));
}

}  // namespace

std::string toText(const Schedule& s) {
  std::string out;
  for (size_t i = 0; i < s.buffers.size(); ++i) {
    const ScheduleBuffer& b = s.buffers[i];
    out += "buffer b" + std::to_string(i) + " " + std::string(toText(b.dtype)) + "[" + std::to_string(b.maxElements) +
           "] " + b.name + (b.port < 0 && b.viewOf < 0 ? " temporary" : "") + viewText(b) + "\n";
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
    out += item.kind == ItemKind::Launch ? "launch " + kernelName(s, item.kernel)
           : item.kind == ItemKind::Copy ? std::string("copy")
                                         : "host " + item.function;
    out += argsText(item) + (item.device.empty() ? "" : " to " + item.device) + "\n";
  }
  for (const Kernel& k : s.kernels) out += "\nkernel " + k.name + "\n" + toUopText(k.sink);
  return out;
}

}  // namespace svod
