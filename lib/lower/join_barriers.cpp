#include "lower/join_barriers.h"

#include <algorithm>
#include <map>

namespace svod {

namespace {

/// The loops around a barrier, by id, and how many barriers it waits for one after the other; -1 for the last thing
/// that a loop does.
using Place = std::pair<std::vector<uint32_t>, int>;

std::map<Place, std::vector<UOp>> barriersByPlace(UOp sink) {
  const std::vector<UOp> order = toposort(sink);
  std::vector<int> behind(sink.id() + 1);
  std::vector<bool> isAwaited(sink.id() + 1);
  for (UOp n : order)
    for (UOp s : n.src()) {
      behind[n.id()] = std::max(behind[n.id()], behind[s.id()] + (s.op() == Op::Barrier));
      isAwaited[s.id()] = isAwaited[s.id()] || (n.op() != Op::Group && n.op() != Op::End && n.op() != Op::Sink);
    }
  std::map<Place, std::vector<UOp>> found;
  for (UOp n : order) {
    if (n.op() != Op::Barrier) continue;
    std::vector<uint32_t> loops;
    for (UOp r : n.ranges()) loops.push_back(r.id());
    std::ranges::sort(loops);
    found[{loops, isAwaited[n.id()] ? behind[n.id()] : -1}].push_back(n);
  }
  return found;
}

}  // namespace

UOp joinBarriers(Graph& g, UOp sink) {
  for (;;) {
    const std::map<Place, std::vector<UOp>> places = barriersByPlace(sink);
    const auto several = std::ranges::find_if(places, [](const auto& place) { return place.second.size() > 1; });
    if (several == places.end()) return sink;
    std::vector<UOp> after;
    for (UOp barrier : several->second)
      for (UOp s : barrier.src())
        if (std::ranges::find(after, s) == after.end()) after.push_back(s);
    const std::vector<UOp> joined(several->second.size(), g.make(Op::Barrier, DType::Void, after));
    sink = substitute(g, sink, several->second, joined);
  }
}

}  // namespace svod
