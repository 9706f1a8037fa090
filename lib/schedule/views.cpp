#include "schedule/views.h"

#include <optional>
#include <set>

#include "schedule/add_kernel.h"
#include "symbolic/linear.h"

namespace svod {

namespace {

/// What a launch stores to argument `to` is what argument `from` holds `offset` elements further on.
struct Move {
  int to, from;
  int64_t offset;
};

int slotOf(UOp address) { return static_cast<int>(address.src(0).argAs<SlotArg>().slot); }

std::optional<Move> moveOf(UOp sink) {
  if (sink.srcCount() != 1) return std::nullopt;
  const UOp store = sink.src(0).op() == Op::End ? sink.src(0).src(0) : sink.src(0);
  if (store.op() != Op::Store || store.srcCount() != 2) return std::nullopt;
  const UOp load = store.src(1), to = store.src(0);
  if (load.op() != Op::Load || load.srcCount() != 1) return std::nullopt;
  const UOp from = load.src(0);
  const auto isElement = [](UOp at) { return at.srcCount() == 2 && at.src(0).op() == Op::Param; };
  if (!isElement(to) || !isElement(from) || to.dtype() != from.dtype()) return std::nullopt;
  Linear distance = linearOf(from.src(1));
  distance.add(linearOf(to.src(1)), -1);
  if (distance.overflow || !distance.isConst()) return std::nullopt;
  return Move{slotOf(to), slotOf(from), distance.constant};
}

class Views {
 public:
  Views(const Model& model, Schedule& schedule, int64_t alignment)
      : model_(model), s_(schedule), alignment_(alignment), lastWrite_(schedule.buffers.size()),
        writes_(schedule.buffers.size()) {
    for (size_t i = 0; i < s_.items.size(); ++i)
      for (size_t a = 0; a < s_.items[i].args.size(); ++a)
        if (s_.items[i].writes[a])
          lastWrite_[bufferAt(i, static_cast<int>(a))] = i, ++writes_[bufferAt(i, static_cast<int>(a))];
  }

  void run() {
    std::set<size_t> moves;
    for (size_t i = 0; i < s_.items.size(); ++i) {
      if (s_.items[i].kind == ItemKind::Loop)
        i += s_.items[i].length;
      else if (s_.items[i].kind == ItemKind::Launch && becomesView(i))
        moves.insert(i);
    }
    removeItems(s_, moves);
  }

 private:
  size_t bufferAt(size_t item, int arg) const {
    return static_cast<size_t>(s_.items[item].args[static_cast<size_t>(arg)]);
  }

  bool becomesView(size_t at) {
    const std::optional<Move> move = moveOf(s_.kernels[static_cast<size_t>(s_.items[at].kernel)].sink);
    if (!move || !s_.items[at].device.empty()) return false;
    ScheduleBuffer& part = s_.buffers[bufferAt(at, move->to)];
    const ScheduleBuffer& source = s_.buffers[bufferAt(at, move->from)];  // a part itself, perhaps
    const int64_t offset = move->offset + source.viewOffset;
    const auto whole = static_cast<size_t>(ownerOf(s_, s_.items[at].args[static_cast<size_t>(move->from)]));
    const ScheduleBuffer& base = s_.buffers[whole];
    const bool isOwn = part.port < 0 && writes_[bufferAt(at, move->to)] == 1;
    const bool isWeight = base.port >= 0 && model_.ports[static_cast<size_t>(base.port)].kind == PortKind::Weight;
    if (!isOwn || isWeight || base.dtype != part.dtype) return false;
    if (offset < 0 || offset + part.maxElements > base.maxElements) return false;
    if (offset * byteSize(part.dtype) % alignment_ != 0) return false;
    if (writes_[whole] > 0 && lastWrite_[whole] > at) return false;
    part.viewOf = static_cast<int>(whole);
    part.viewOffset = offset;
    return true;
  }

  const Model& model_;
  Schedule& s_;
  const int64_t alignment_;
  std::vector<size_t> lastWrite_, writes_;  // by buffer: the last item that writes to it, and how many do
};

}  // namespace

void useViews(const Model& model, Schedule& schedule, int64_t alignment) { Views(model, schedule, alignment).run(); }

}  // namespace svod
