// Loops joined, reordered and given to threads.
#include <algorithm>
#include <set>

#include "opts/legality.h"
#include "opts/proposals.h"

namespace svod {

namespace {

struct Neighbours {
  UOp outer, inner;
};

// Pairs of loops of these types that stand one directly inside the other wherever either is closed.
std::vector<Neighbours> neighbours(const KernelFacts& kernel, uint8_t nests, std::initializer_list<AxisType> types) {
  std::vector<Neighbours> pairs;
  const std::vector<UOp> loops = loopsIn(kernel, nests, types, 1);
  for (UOp outer : loops)
    for (UOp inner : loops) {
      const std::vector<UOp> closers = kernel.closersOf(outer);
      const bool areAdjacent = std::ranges::all_of(closers, [&](UOp c) {
        const auto list = c.src().subspan(1);
        const auto at = std::ranges::find(list, outer);
        return at + 1 != list.end() && *(at + 1) == inner;
      });
      if (outer != inner && axisType(outer) == axisType(inner) && areAdjacent && closers == kernel.closersOf(inner))
        pairs.push_back({outer, inner});
    }
  return pairs;
}

// The loops of one nest whose order is free, outermost first, for every nest.
std::vector<std::vector<UOp>> freeNests(const KernelFacts& kernel, const Caps& caps) {
  std::vector<std::vector<UOp>> nests;
  std::vector<std::vector<UOp>> closersOf;
  for (UOp r : loopsIn(kernel, kAnyNest, {AxisType::Loop, AxisType::Reduce, AxisType::Global})) {
    std::vector<UOp> closers = kernel.closersOf(r);
    const bool addsUp =
        std::ranges::any_of(closers, [](UOp c) { return c.op() == Op::Fill && c.argAs<ReduceArg>().op != Op::Store; });
    if (addsUp || !mayFoldInAnyOrder(kernel, r, caps)) continue;
    const auto at = std::ranges::find(closersOf, closers);
    if (at == closersOf.end()) {
      closersOf.push_back(std::move(closers)), nests.push_back({r});
    } else {
      nests[static_cast<size_t>(at - closersOf.begin())].push_back(r);
    }
  }
  return nests;
}

// The places that the loops of a nest have, with the one at `from` moved to `to`.
std::vector<UOp> moved(std::span<const UOp> nest, size_t from, size_t to) {
  std::vector<UOp> order(nest.begin() + static_cast<std::ptrdiff_t>(std::min(from, to)),
                         nest.begin() + static_cast<std::ptrdiff_t>(std::max(from, to) + 1));
  if (from < to)
    std::ranges::rotate(order, order.begin() + 1);
  else
    std::ranges::rotate(order, order.end() - 1);
  return order;
}

// Loops over tiles outside, what is inside of tiles inside: the order of blocks of several loops at once.
std::vector<UOp> tilesOutside(const LoopNames& names, std::span<const UOp> nest) {
  std::vector<UOp> order(nest.begin(), nest.end());
  const auto isTile = [&](UOp r) { return names.nameOf(r).ends_with(".o"); };
  const auto isInTile = [&](UOp r) { return names.nameOf(r).ends_with(".i"); };
  std::ranges::stable_sort(order, {}, [&](UOp r) { return isTile(r) ? 0 : isInTile(r) ? 2 : 1; });
  return order;
}

// Distances between lines that some load walks on without a gap, and that of no gap.
std::set<int64_t> pitchesOf(const KernelFacts& kernel, const Neighbours& pair, int64_t width) {
  std::set<int64_t> pitches{width};
  for (const Access& a : kernel.accesses) {
    const int64_t step = strideOf(a, pair.inner).value_or(0), line = strideOf(a, pair.outer).value_or(0);
    if (step > 0 && line % step == 0 && line / step >= width && line / step <= 4 * width) pitches.insert(line / step);
  }
  return pitches;
}

bool enclosesAllStores(const KernelFacts& kernel, UOp range) {
  return std::ranges::all_of(
      kernel.nodes, [&](UOp n) { return n.op() != Op::End || std::ranges::find(n.src(), range) != n.src().end(); });
}

}  // namespace

std::vector<OptOp> proposeMerge(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  std::vector<OptOp> moves;
  for (const auto& [outer, inner] :
       neighbours(kernel, kOutput | kReduce, {AxisType::Loop, AxisType::Reduce, AxisType::Global}))
    moves.push_back({OptKind::Merge, AxisList{{refTo(kernel, names, outer), refTo(kernel, names, inner)}}});
  return moves;
}

std::vector<OptOp> proposePitch(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  std::vector<OptOp> moves;
  for (const Neighbours& pair : neighbours(kernel, kOutput, {AxisType::Loop})) {
    const std::optional<int64_t> width = constExtent(pair.inner);
    if (!width || !constExtent(pair.outer)) continue;
    for (int64_t pitch : pitchesOf(kernel, pair, *width))
      moves.push_back(
          {OptKind::Pitch, TwoAxesAmount{refTo(kernel, names, pair.outer), refTo(kernel, names, pair.inner), pitch}});
  }
  return moves;
}

std::vector<OptOp> proposeOrder(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  const auto add = [&](std::span<const UOp> order) {
    moves.push_back({OptKind::Order, AxisList{refsTo(kernel, names, order)}});
  };
  for (const std::vector<UOp>& nest : freeNests(kernel, caps)) {
    for (size_t from = 0; from < nest.size(); ++from)
      for (size_t to = 0; to < nest.size(); ++to)
        if (from > to || from + 1 < to) add(moved(nest, from, to));  // of neighbours, one move is the other
    if (std::vector<UOp> order = tilesOutside(names, nest); order != nest) add(order);
  }
  return moves;
}

std::vector<OptOp> proposeThread(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  if (!caps.threads) return moves;
  for (UOp r : loopsIn(kernel, kOutput, {AxisType::Loop})) {
    if (!enclosesAllStores(kernel, r)) continue;
    const int64_t extent = maxExtent(r);
    std::set<int64_t> sizes{1, 4, 16, 64};  // and equal parts, from one for each worker on
    for (int64_t parts = 2; parts <= std::min<int64_t>(extent, std::max(64, 4 * caps.workers)); ++parts)
      sizes.insert((extent + parts - 1) / parts);
    for (int64_t n : sizes)
      if (n < extent) moves.push_back({OptKind::Thread, AxisAmount{refTo(kernel, names, r), n}});
  }
  return moves;
}

}  // namespace svod
