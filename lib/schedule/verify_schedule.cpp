#include "schedule/verify_schedule.h"

#include <algorithm>

#include "ir/verify.h"

namespace svod {

namespace {

class ScheduleVerifier {
 public:
  explicit ScheduleVerifier(const Schedule& schedule) : s_(schedule), isWritten_(schedule.buffers.size()) {}

  Status run() {
    SVOD_CHECK(kernels());
    return items(0, s_.items.size());
  }

 private:
  static Error wrong(const std::string& where, const std::string& what) {
    return Error(Diag::Verify, "in the schedule, " + where + ": " + what, "this is a defect of the compiler");
  }

  /// Whether an address leaves its buffer is checked where the kernel is compiled.
  Status kernels() const {
    for (const Kernel& k : s_.kernels)
      if (Status status = verify(k.sink, Stage::Kernel, {.enumerate = 0}); !status)
        return fail(std::move(status.error()).withNote("in kernel " + k.name));
    return {};
  }

  Status items(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const ScheduleItem& item = s_.items[i];
      if (item.kind != ItemKind::Loop) {
        SVOD_CHECK(accesses(item));
        continue;
      }
      if (static_cast<size_t>(item.kernel) >= s_.loops.size() || i + 1 + item.length > end)
        return fail(wrong(item.label, "a loop reaches beyond the body it stands in"));
      SVOD_CHECK(items(i + 1, i + 1 + item.length));
      i += item.length;
    }
    return {};
  }

  Status accesses(const ScheduleItem& item) {
    if (item.kind == ItemKind::Launch) SVOD_CHECK(launch(item));
    if (item.reads.size() != item.args.size() || item.writes.size() != item.args.size())
      return fail(wrong(item.label, "not every argument says how it is used"));
    for (size_t a = 0; a < item.args.size(); ++a) {
      if (static_cast<size_t>(item.args[a]) >= s_.buffers.size())
        return fail(wrong(item.label, "an argument is no buffer"));
      const ScheduleBuffer& buffer = s_.buffers[static_cast<size_t>(item.args[a])];
      const bool isFresh = buffer.port < 0 && buffer.viewOf < 0 && !isWritten_[static_cast<size_t>(item.args[a])];
      if (item.reads[a] && !item.writes[a] && isFresh && buffer.maxElements > 0)
        return fail(wrong(item.label, "reads " + buffer.name + " before it is written"));
    }
    for (size_t a = 0; a < item.args.size(); ++a)
      if (item.writes[a]) isWritten_[static_cast<size_t>(item.args[a])] = true;
    return {};
  }

  Status launch(const ScheduleItem& item) const {
    if (static_cast<size_t>(item.kernel) >= s_.kernels.size())
      return fail(wrong(item.label, "there is no such kernel"));
    const Kernel& kernel = s_.kernels[static_cast<size_t>(item.kernel)];
    for (UOp n : toposort(kernel.sink))
      if (n.op() == Op::Param && n.argAs<SlotArg>().slot >= item.args.size())
        return fail(wrong(item.label, "kernel " + kernel.name + " has more parameters than there are arguments"));
    if (item.overwrites >= static_cast<int>(item.args.size()))
      return fail(wrong(item.label, "it overwrites an argument that it does not have"));
    return {};
  }

  const Schedule& s_;
  std::vector<bool> isWritten_;  // by buffer
};

}  // namespace

Status verifySchedule(const Schedule& schedule) { return ScheduleVerifier(schedule).run(); }

}  // namespace svod
