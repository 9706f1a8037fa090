#include "linearize/linearize.h"

#include <algorithm>
#include <map>
#include <queue>
#include <ranges>

#include "ir/text.h"
#include "linearize/terms.h"

namespace svod {

namespace {

/// End of several ranges -> nested Ends of one, the first range outermost.
UOp splitEnds(Graph& g, UOp sink) {
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    if (node.op() != Op::End || src.size() <= 2)
      return std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    UOp body = src[0];
    for (size_t i = src.size(); i-- > 1;) body = g.make(Op::End, DType::Void, {body, src[i]});
    return body;
  });
}

/// The loop nest of a kernel. Loop 0 is the function body; every other loop belongs to one Range and its End.
struct Loop {
  UOp range, end;
  size_t parent = 0, depth = 0;
  std::vector<size_t> items;  // positions in the node list, of nodes and of the Ends of inner loops
};

class Linearizer {
 public:
  Linearizer(UOp sink) : nodes_(toposort(sink)) {
    uint32_t largest = 0;
    for (UOp n : nodes_) largest = std::max(largest, n.id());
    positionOf_.resize(largest + 1);
    loopOfRange_.resize(largest + 1);
    for (size_t i = 0; i < nodes_.size(); ++i) positionOf_[nodes_[i].id()] = i;
  }

  Result<std::vector<UOp>> run() {
    SVOD_CHECK(findLoops());
    SVOD_CHECK(findHomes());
    SVOD_CHECK(emit(0));
    return std::move(out_);
  }

 private:
  Status findLoops() {
    loops_.push_back({});
    for (UOp end : nodes_) {
      if (end.op() != Op::End) continue;
      UOp range = end.src(1);
      if (endOfRange_.contains(range.id()))
        return fail(Diag::Verify, "range " + toLineText(range) + " is closed by two ends",
                    "this is a defect of the compiler: mergeLoops must leave one end per range");
      endOfRange_[range.id()] = end;
    }
    keepInLoops();
    for (UOp end : nodes_)
      if (end.op() == Op::End) openLoop(end);
    return {};
  }

  /// What an End closes stays in its loop even if it does not depend on it, unless the loop runs in any case.
  void keepInLoops() {
    keptIn_.resize(positionOf_.size());
    for (UOp n : nodes_ | std::views::reverse) {  // ends around others come first
      if (n.op() != Op::End && n.op() != Op::Group) continue;
      std::vector<UOp> around = keptIn_[n.id()];
      if (n.op() == Op::End && n.src(1).src(0).bounds().min < 1) around.push_back(n.src(1));
      for (UOp effect : n.op() == Op::End ? n.src().first(1) : n.src())
        keptIn_[effect.id()].insert(keptIn_[effect.id()].end(), around.begin(), around.end());
    }
  }

  /// The ranges of the loops that a node is in.
  std::vector<UOp> rangesAround(UOp node) const {
    std::vector<UOp> ranges(node.ranges().begin(), node.ranges().end());
    const std::vector<UOp>& kept = keptIn_[node.id()];
    ranges.insert(ranges.end(), kept.begin(), kept.end());
    return ranges;
  }

  /// The loops around a loop are those of the ranges open at its End; they get their numbers first.
  void openLoop(UOp end) {
    UOp range = end.src(1);
    if (loopOfRange_[range.id()] != 0) return;
    for (UOp outer : rangesAround(end))
      if (auto it = endOfRange_.find(outer.id()); it != endOfRange_.end()) openLoop(it->second);
    size_t parent = innermost(end);
    loopOfRange_[range.id()] = loops_.size();
    loops_.push_back({range, end, parent, loops_[parent].depth + 1, {}});
  }

  size_t innermost(UOp node) const {
    size_t best = 0;
    for (UOp r : rangesAround(node)) {
      size_t loop = loopOfRange_[r.id()];
      if (loops_[loop].depth > loops_[best].depth || best == 0) best = loop;
    }
    return best;
  }

  bool isAncestor(size_t outer, size_t inner) const {
    while (loops_[inner].depth > loops_[outer].depth) inner = loops_[inner].parent;
    return inner == outer;
  }

  Status findHomes() {
    home_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      UOp n = nodes_[i];
      home_[i] = innermost(n);
      for (UOp r : rangesAround(n))
        if (!isAncestor(loopOfRange_[r.id()], home_[i]))
          return fail(Diag::Verify, "node " + toLineText(n) + " depends on loops that are not nested",
                      "this is a defect of the compiler: report the kernel's .uop text");
      if (n.op() != Op::Range) loops_[home_[i]].items.push_back(i);
    }
    return {};
  }

  /// The item of `loop` that contains node `i`: itself, or the End of the inner loop around it.
  size_t itemIn(size_t loop, size_t i) const {
    size_t at = home_[i];
    if (at == loop && nodes_[i].op() != Op::Range) return i;
    if (nodes_[i].op() == Op::Range) at = loopOfRange_[nodes_[i].id()];
    while (loops_[at].parent != loop) at = loops_[at].parent;
    return positionOf_[loops_[at].end.id()];
  }

  Status emit(size_t loop) {
    std::vector<size_t> order;
    SVOD_TRY(order, sortItems(loop));
    for (size_t i : order) {
      UOp n = nodes_[i];
      if (n.op() != Op::End) {
        out_.push_back(n);
        continue;
      }
      out_.push_back(n.src(1));
      SVOD_CHECK(emit(loopOfRange_[n.src(1).id()]));
      out_.push_back(n);
    }
    return {};
  }

  using Edges = std::vector<std::pair<size_t, size_t>>;  // (from, to), sorted

  /// The term of a sum of products that an item belongs to, and the place of a factor within it; 0, 0 for none.
  struct Turn {
    size_t term = 0, factor = 0;
    auto operator<=>(const Turn&) const = default;
  };
  /// What comes first among items that are ready.
  struct Priority {
    Turn turn;
    size_t group, level, position;
    auto operator<=>(const Priority&) const = default;
  };

  /// The order of the node list, except where chains of dependent ops are so long that the window in which a processor
  /// looks for independent ones holds few of them: there, some neighbours advance in turns.
  std::vector<Priority> prioritiesOf(const std::vector<size_t>& items, const Edges& edges) const {
    constexpr size_t kLong = 16, kTogether = 4;
    std::vector<size_t> level(nodes_.size()), group(nodes_.size(), nodes_.size());
    for (auto [from, to] : edges) level[to] = std::max(level[to], level[from] + 1);
    size_t deepest = 0, results = 0;
    for (size_t i : items) deepest = std::max(deepest, level[i]);
    for (size_t i : items)
      if (nodes_[i].op() == Op::Store) group[i] = results++ / kTogether;
    for (auto [from, to] : edges | std::views::reverse) group[from] = std::min(group[from], group[to]);
    std::vector<Priority> priorities(nodes_.size());
    const std::vector<Turn> turns = turnsOf(items, edges);
    for (size_t i : items)
      priorities[i] = deepest < kLong ? Priority{turns[i], 0, 0, i} : Priority{turns[i], group[i], level[i], i};
    return priorities;
  }

  /// When accumulators of a register tile add up: all of them their first term before any adds its second, so that what
  /// they share is loaded for one term at a time; within a term, those that share the factor which fewest of them
  /// share, so that it is soon done with and only the few factors that all of them need stay in registers.
  std::vector<Turn> turnsOf(const std::vector<size_t>& items, const Edges& edges) const {
    constexpr Turn kNone{SIZE_MAX, SIZE_MAX};
    std::vector<Turn> turns(nodes_.size(), kNone);
    std::vector<UOp> stores;
    for (size_t i : items)
      if (nodes_[i].op() == Op::Store) stores.push_back(nodes_[i]);
    const std::vector<std::vector<Addend>> all = termsOf(stores);
    for (size_t turn = 0; turn < all.size(); ++turn) {
      const size_t factor = factorOfFewest(all[turn]);
      for (const Addend& t : all[turn])
        turns[positionOf_[t.sum.id()]] = {turn + 1, positionOf_[t.factors[factor].id()]};
    }
    for (auto [from, to] : edges | std::views::reverse) turns[from] = std::min(turns[from], turns[to]);
    std::ranges::replace(turns, kNone, Turn{});
    return turns;
  }

  Result<std::vector<size_t>> sortItems(size_t loop) {
    const std::vector<size_t>& items = loops_[loop].items;
    Edges edges;
    for (size_t i : nodesInside(loop)) {
      size_t to = itemIn(loop, i);
      for (UOp s : nodes_[i].src()) {
        size_t from = positionOf_[s.id()];
        if (s.op() == Op::Range || home_[from] != loop || from == to) continue;
        edges.emplace_back(from, to);
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const std::vector<Priority> priorities = prioritiesOf(items, edges);
    std::vector<size_t> waiting(nodes_.size()), order;
    for (auto [from, to] : edges) ++waiting[to];
    std::priority_queue<Priority, std::vector<Priority>, std::greater<>> ready;
    for (size_t i : items)
      if (waiting[i] == 0) ready.push(priorities[i]);
    while (!ready.empty()) {
      size_t i = ready.top().position;
      ready.pop();
      order.push_back(i);
      for (auto it = std::lower_bound(edges.begin(), edges.end(), std::pair(i, size_t{0}));
           it != edges.end() && it->first == i; ++it)
        if (--waiting[it->second] == 0) ready.push(priorities[it->second]);
    }
    if (order.size() != items.size())
      return fail(Diag::Verify, "the loops of a kernel depend on each other in a circle",
                  "this is a defect of the compiler: report the kernel's .uop text");
    return order;
  }

  /// Nodes homed in `loop` or in loops inside it.
  std::vector<size_t> nodesInside(size_t loop) const {
    std::vector<size_t> inside;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      size_t at = nodes_[i].op() == Op::Range ? loopOfRange_[nodes_[i].id()] : home_[i];
      if (nodes_[i].op() == Op::Range ? at != loop && isAncestor(loop, at) : isAncestor(loop, at)) inside.push_back(i);
    }
    return inside;
  }

  std::vector<UOp> nodes_;
  std::vector<size_t> positionOf_, loopOfRange_, home_;
  std::map<uint32_t, UOp> endOfRange_;    // by range id
  std::vector<std::vector<UOp>> keptIn_;  // by node id: ranges it does not depend on
  std::vector<Loop> loops_;
  std::vector<UOp> out_;
};

int64_t alignUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

void describe(LinearKernel& kernel) {
  for (UOp n : kernel.ops) {
    if (n.op() == Op::Param) {
      uint32_t slot = n.argAs<SlotArg>().slot;
      if (kernel.params.size() <= slot) kernel.params.resize(slot + 1);
      kernel.params[slot].param = n;
    } else if (n.op() == Op::Var) {
      kernel.variables.push_back(n);
    } else if (n.op() == Op::Range && n.argAs<AxisArg>().type == AxisType::Thread) {
      kernel.threadRange = n;
    } else if (n.op() == Op::Buffer && n.argAs<SlotArg>().space == Space::Local) {
      kernel.scratchBytes += alignUp(n.maxNumel() * byteSize(n.dtype()));
    }
  }
  for (UOp n : kernel.ops) {
    if (n.op() != Op::Load && n.op() != Op::Store) continue;
    UOp base = storageOf(n.src(0));
    if (base.op() != Op::Param) continue;
    KernelParam& p = kernel.params[base.argAs<SlotArg>().slot];
    (n.op() == Op::Load ? p.read : p.written) = true;
  }
  std::sort(kernel.variables.begin(), kernel.variables.end(),
            [](UOp a, UOp b) { return a.argAs<VarArg>().name < b.argAs<VarArg>().name; });
}

}  // namespace

Result<LinearKernel> linearize(Graph& graph, UOp sink, std::string name, Numerics numerics) {
  LinearKernel kernel;
  kernel.name = std::move(name);
  kernel.numerics = numerics;
  SVOD_TRY(kernel.ops, Linearizer(splitEnds(graph, sink)).run());
  std::erase_if(kernel.ops, [](UOp n) { return n.op() == Op::Sink; });
  describe(kernel);
  return kernel;
}

}  // namespace svod
