#include "opts/local_copy.h"

#include <algorithm>

#include "facts/axes.h"
#include "facts/local_buffers.h"

namespace svod {

uint32_t nextBufferSlot(UOp sink) {
  uint32_t next = 0;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Buffer) next = std::max(next, n.argAs<SlotArg>().slot + 1);
  return next;
}

namespace {

// The loops of reduces in `value` that run again for each iteration of `closed`: the copy needs loops of its
// own.
std::vector<UOp> innerLoops(UOp value, std::span<const UOp> closed) {
  std::vector<UOp> loops;
  for (UOp n : toposort(value)) {
    if (n.op() != Op::Reduce || std::ranges::none_of(closed, [&](UOp r) { return n.dependsOn(r); })) continue;
    for (UOp r : n.src().subspan(1))
      if (std::ranges::find(loops, r) == loops.end()) loops.push_back(r);
  }
  return loops;
}

// The buffers that are filled again for each iteration of `closed`: another copy of what fills them needs its own.
std::vector<UOp> innerBuffers(UOp value, std::span<const UOp> closed) {
  std::vector<UOp> buffers;
  for (UOp n : toposort(value))
    if (n.op() == Op::Fill && std::ranges::any_of(closed, [&](UOp r) { return n.dependsOn(r); }))
      buffers.push_back(bufferOf(n));
  return buffers;
}

}  // namespace

Renamed withOwnRanges(Graph& g, UOp sink, UOp value, std::span<const UOp> closed,
                      const std::function<AxisType(UOp)>& typeOf) {
  uint32_t id = nextRangeId(sink);
  std::vector<UOp> from(closed.begin(), closed.end()), fresh;
  for (UOp r : closed) fresh.push_back(g.range(r.src(0), id++, typeOf(r)));
  std::vector<UOp> to = fresh;
  for (UOp r : innerLoops(value, closed)) from.push_back(r), to.push_back(g.range(r.src(0), id++, axisType(r)));
  std::vector<std::pair<UOp, UOp>> copies;
  for (size_t i = 0; i < from.size(); ++i) copies.emplace_back(from[i], to[i]);
  uint32_t slot = nextBufferSlot(sink);
  for (UOp b : innerBuffers(value, closed)) {
    SlotArg arg = b.argAs<SlotArg>();
    arg.slot = slot++;
    from.push_back(b), to.push_back(g.buffer(b.dtype(), b.src(), arg));
  }
  return {substitute(g, value, from, to), std::move(fresh), std::move(copies), slot};
}

LocalCopy makeLocalCopy(Graph& g, UOp sink, UOp value, std::vector<UOp> closed) {
  Renamed own = withOwnRanges(g, sink, value, closed, [](UOp) { return AxisType::Loop; });
  return {g.fill(own.value, own.ranges, own.slot), std::move(closed), std::move(own.copies)};
}

std::vector<MadeLoop> madeOf(std::span<const std::pair<UOp, UOp>> copies, const std::string& label) {
  std::vector<MadeLoop> made;
  for (const auto& [from, to] : copies) made.push_back({MadeLoop::How::Copy, to, {from}, label});
  return made;
}

}  // namespace svod
