// Loop fusion: reductions over equal extents share a loop where neither needs the other.
#include <algorithm>
#include <map>
#include <span>

#include "lower/expand.h"

namespace svod {

namespace {

/// Ends of one future loop nest: equal extents and axis types, the same open ranges around them.
struct LoopKey {
  std::vector<uint32_t> context;                       // ids of the open ranges
  std::vector<std::pair<uint32_t, AxisType>> extents;  // id of each range's end, type
  auto operator<=>(const LoopKey&) const = default;
};

LoopKey keyOf(UOp end) {
  LoopKey key;
  for (UOp r : end.ranges()) key.context.push_back(r.id());
  for (UOp r : end.src().subspan(1)) key.extents.emplace_back(r.src(0).id(), r.argAs<AxisArg>().type);
  return key;
}

bool isReduceLoop(UOp end) {
  return std::all_of(end.src().begin() + 1, end.src().end(),
                     [](UOp r) { return r.argAs<AxisArg>().type == AxisType::Reduce; });
}

bool closesSameRanges(UOp a, UOp b) { return std::ranges::equal(a.src().subspan(1), b.src().subspan(1)); }

/// For each End, the Ends its body needs, directly or not.
class EndDependencies {
 public:
  explicit EndDependencies(UOp sink) {
    const std::vector<UOp> nodes = toposort(sink);
    for (UOp n : nodes)
      if (n.op() == Op::End) numberOf_.emplace(n.id(), ends_.size()), ends_.push_back(n);
    words_ = (ends_.size() + 63) / 64;
    below_.resize((sink.id() + 1) * words_);
    for (UOp n : nodes) {
      const std::span<uint64_t> mine = below(n);
      for (UOp s : n.src())
        for (size_t w = 0; w < words_; ++w) mine[w] |= below(s)[w];
      if (n.op() != Op::End) continue;
      const size_t number = numberOf_.at(n.id());
      mine[number / 64] |= uint64_t{1} << number % 64;
    }
  }
  const std::vector<UOp>& ends() const { return ends_; }
  bool needs(UOp a, UOp b) {
    const size_t number = numberOf_.at(b.id());
    return (below(a)[number / 64] >> number % 64 & 1) != 0;
  }

 private:
  /// One bit for each End.
  std::span<uint64_t> below(UOp node) { return std::span(below_).subspan(node.id() * words_, words_); }

  std::vector<UOp> ends_;
  std::map<uint32_t, size_t> numberOf_;  // of Ends, by id
  std::vector<uint64_t> below_;          // by id of the node
  size_t words_ = 0;                     // of a node
};

/// One round: the first group of mergeable Ends becomes one. Returns the same sink when there is none.
UOp mergeOne(Graph& g, UOp sink) {
  EndDependencies dependencies(sink);
  std::map<LoopKey, std::vector<std::vector<UOp>>> groupsOf;
  std::vector<UOp> chosen;
  for (UOp end : dependencies.ends()) {
    std::vector<std::vector<UOp>>& groups = groupsOf[keyOf(end)];
    auto fits = [&](const std::vector<UOp>& group) {
      return std::all_of(group.begin(), group.end(), [&](UOp other) {
        bool sameLoop = closesSameRanges(end, other) || (isReduceLoop(end) && isReduceLoop(other));
        return sameLoop && !dependencies.needs(end, other) && !dependencies.needs(other, end);
      });
    };
    auto it = std::find_if(groups.begin(), groups.end(), fits);
    if (it == groups.end()) {
      groups.push_back({end});
    } else {
      it->push_back(end);
    }
  }
  for (UOp end : dependencies.ends()) {
    for (const std::vector<UOp>& group : groupsOf[keyOf(end)])
      if (group.size() > 1 && group.front() == end) chosen = group;
    if (!chosen.empty()) break;
  }
  if (chosen.empty()) return sink;

  std::span<const UOp> ranges = chosen[0].src().subspan(1);
  std::vector<UOp> bodies, src;
  for (UOp end : chosen) {
    UOp body = substitute(g, end.src(0), end.src().subspan(1), ranges);
    for (UOp store : body.op() == Op::Group ? body.src() : std::span<const UOp>(&body, 1)) bodies.push_back(store);
  }
  src.push_back(g.make(Op::Group, DType::Void, bodies));
  src.insert(src.end(), ranges.begin(), ranges.end());
  std::vector<UOp> merged(chosen.size(), g.make(Op::End, DType::Void, src));
  return substitute(g, sink, chosen, merged);
}

/// Gives an End that closes the same ranges as another one, in another place, ranges of its own: the inner one, if one
/// is below the other. Returns the same sink when there is none.
UOp separateOne(Graph& g, UOp sink) {
  std::vector<UOp> nodes = toposort(sink);
  std::map<uint32_t, UOp> closerOf;  // by id of the range
  uint32_t nextId = 0;
  for (UOp n : nodes)
    if (n.op() == Op::Range) nextId = std::max(nextId, n.argAs<AxisArg>().id + 1);
  for (UOp end : nodes) {
    if (end.op() != Op::End) continue;
    std::vector<UOp> from, to;
    for (UOp r : end.src().subspan(1)) {
      if (!closerOf.contains(r.id())) continue;
      from.push_back(r), to.push_back(g.range(r.src(0), nextId++, r.argAs<AxisArg>().type));
    }
    for (UOp r : end.src().subspan(1)) closerOf.emplace(r.id(), end);
    if (from.empty()) continue;
    const UOp first = closerOf.at(from[0].id());
    const std::vector<UOp> below = toposort(end);
    const UOp moved = std::ranges::find(below, first) == below.end() ? end : first;
    UOp separate = substitute(g, moved, from, to);
    return substitute(g, sink, {&moved, 1}, {&separate, 1});
  }
  return sink;
}

UOp untilStable(Graph& g, UOp sink, UOp (*step)(Graph&, UOp)) {
  for (;;) {
    UOp next = step(g, sink);
    if (next == sink) return sink;
    sink = next;
  }
}

}  // namespace

UOp mergeLoops(Graph& graph, UOp sink) { return untilStable(graph, untilStable(graph, sink, mergeOne), separateOne); }

}  // namespace svod
