#include "lower/neighbours.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ir/gpu_op.h"
#include "ir/multiple_of.h"
#include "lower/constant_parts.h"

namespace svod {

namespace {

// What accesses share that may become one: storage, base of the address, gate and alternative, by node id.
using Place = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;
struct Access {
  UOp node;
  int64_t constant;
};
using Accesses = std::map<Place, std::vector<Access>>;

bool isMemory(UOp storage) { return storage.op() == Op::Param || storage.argAs<SlotArg>().space == Space::Local; }

void addTo(Accesses& accesses, UOp node) {
  if (node.src(0).op() != Op::Index || !node.src(0).isScalar() || !isMemory(storageOf(node.src(0)))) return;
  const int64_t bytes = byteSize(node.src(0).dtype());
  const bool isPackedBits = info(node.src(0).dtype()).bits < 8 && node.src(0).dtype() != DType::Bool;
  if (bytes > kAccessBytes / 2 || isPackedBits) return;
  const ConstantPart at = constantPart(node.src(0).src(1));
  const auto idOf = [&](size_t i) { return node.srcCount() > i ? node.src(i).id() : UINT32_MAX; };
  const bool isLoad = node.op() == Op::Load;
  const Place place{node.src(0).src(0).id(), at.base ? at.base.id() : UINT32_MAX, idOf(2),
                    isLoad ? idOf(1) : UINT32_MAX};
  std::vector<Access>& same = accesses[place];
  if (std::ranges::find(same, at.constant, &Access::constant) == same.end()) same.push_back({node, at.constant});
}

/// Runs of neighbours that one access can move, as long as possible.
std::vector<std::span<const Access>> runsOf(std::vector<Access>& accesses) {
  std::vector<std::span<const Access>> runs;
  std::ranges::sort(accesses, {}, &Access::constant);
  UOp address = accesses[0].node.src(0);
  const ConstantPart at = constantPart(address.src(1));
  const int64_t aligned = at.base ? multipleOf(at.base) : kMostAligned;
  for (size_t first = 0; first < accesses.size();) {
    const auto fits = [&](int64_t lanes) {
      if (first + static_cast<size_t>(lanes) > accesses.size()) return false;
      const Access& last = accesses[first + static_cast<size_t>(lanes) - 1];
      return aligned % lanes == 0 && accesses[first].constant % lanes == 0 &&
             last.constant == accesses[first].constant + lanes - 1;
    };
    int64_t lanes = kAccessBytes / byteSize(address.dtype());
    while (lanes > 1 && !fits(lanes)) lanes /= 2;
    if (lanes > 1) runs.push_back(std::span(accesses).subspan(first, static_cast<size_t>(lanes)));
    first += static_cast<size_t>(lanes);
  }
  return runs;
}

UOp rampAt(Graph& g, UOp address, size_t lanes) {
  UOp ramp = g.make(Op::Ramp, address.src(1).dtype(), {address.src(1)}, SlotArg{static_cast<uint32_t>(lanes)});
  return g.indexInto(address.src(0), {&ramp, 1});
}

UOp joinLoads(Graph& g, UOp sink) {
  Accesses accesses;
  struct Lane {
    UOp first;  // index of the first element
    uint32_t lane;
    size_t lanes;
  };
  std::map<uint32_t, Lane> laneOf;  // by node id
  const std::vector<UOp> nodes = toposort(sink);
  std::vector<bool> loads(sink.id() + 1);  // whether a value is loaded, or made of one that is
  for (UOp n : nodes) {
    loads[n.id()] = n.op() == Op::Load || std::ranges::any_of(n.src(), [&](UOp s) { return loads[s.id()]; });
    if (n.op() == Op::Load && n.src(0).op() == Op::Index && !loads[n.src(0).src(1).id()]) addTo(accesses, n);
  }
  for (auto& [place, same] : accesses)
    for (std::span<const Access> run : runsOf(same))
      for (uint32_t i = 0; i < run.size(); ++i) laneOf[run[i].node.id()] = {run[0].node.src(0).src(1), i, run.size()};
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) -> UOp {
    const auto found = laneOf.find(n.id());
    if (found == laneOf.end()) return std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    const auto& [first, lane, lanes] = found->second;
    UOp address = rampAt(g, g.indexInto(src[0].src(0), {&first, 1}), lanes);
    UOp all = src.size() > 1 ? g.load(address, src[1], src[2]) : g.load(address);
    return g.make(Op::Lane, all.dtype(), {all}, SlotArg{lane});
  });
}

// No value of a run needs another of its stores.
bool areIndependent(std::span<const Access> run) {
  std::vector<UOp> roots;
  for (const Access& a : run) roots.insert(roots.end(), a.node.src().begin(), a.node.src().end());
  return std::ranges::none_of(toposort(roots),
                              [&](UOp n) { return std::ranges::find(run, n, &Access::node) != run.end(); });
}

UOp joinStores(Graph& g, UOp group) {
  Accesses accesses;
  for (UOp s : group.src())
    if (s.op() == Op::Store && s.src(1).isScalar()) addTo(accesses, s);
  std::vector<UOp> left(group.src().begin(), group.src().end());
  for (auto& [place, same] : accesses)
    for (std::span<const Access> run : runsOf(same)) {
      if (!areIndependent(run)) continue;
      std::vector<UOp> values;
      for (const Access& a : run) values.push_back(a.node.src(1));
      UOp first = run[0].node;
      std::vector<UOp> src{rampAt(g, first.src(0), run.size()), g.make(Op::Stack, first.src(1).dtype(), values)};
      if (first.srcCount() > 2) src.push_back(first.src(2));
      std::ranges::replace(left, first, g.make(Op::Store, DType::Void, src));
      std::erase_if(left, [&](UOp s) { return std::ranges::find(run, s, &Access::node) != run.end(); });
    }
  return left.size() == 1 ? left[0] : g.make(Op::Group, DType::Void, left);
}

}  // namespace

UOp joinNeighbours(Graph& g, UOp sink) {
  sink = transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    return same.op() == Op::Group ? joinStores(g, same) : same;
  });
  return joinLoads(g, sink);
}

}  // namespace svod
