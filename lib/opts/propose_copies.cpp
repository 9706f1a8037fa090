// Panels, windows, rows and sums in buffers local to the kernel.
#include <algorithm>
#include <set>

#include "opts/legality.h"
#include "opts/proposals.h"

namespace svod {

namespace {

// The loops of some nests that an access depends on, outermost first.
std::vector<UOp> loopsUnder(const KernelFacts& kernel, UOp node, uint8_t nests, int64_t least = 2) {
  std::vector<UOp> loops = loopsIn(kernel, nests, {AxisType::Loop, AxisType::Reduce}, least);
  std::erase_if(loops, [&](UOp r) { return !node.dependsOn(r); });
  return loops;
}

std::vector<UOp> joined(std::vector<UOp> first, std::span<const UOp> second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::span<const UOp> from(const std::vector<UOp>& loops, size_t first) { return std::span(loops).subspan(first); }

// Lists without repetition, in the order in which they came.
struct Lists {
  std::vector<std::vector<UOp>> all;
  void add(std::vector<UOp> list) {
    if (!list.empty() && std::ranges::find(all, list) == all.end()) all.push_back(std::move(list));
  }
};

// What a panel may hold of an operand: one loop, two of them either way around, all terms with the innermost
// loops of the result or of another buffer, one after the other, and the two innermost loops of the result, a tile, the
// other way around with another one.
std::vector<std::vector<UOp>> panelsOf(const KernelFacts& kernel, UOp load) {
  Lists lists;
  const std::vector<UOp> terms = loopsUnder(kernel, load, kReduce);
  const std::vector<UOp> all = loopsUnder(kernel, load, kAnyNest);
  for (UOp a : all) lists.add({a});
  for (UOp a : all)
    for (UOp b : all)
      if (a != b) lists.add({a, b});
  for (uint8_t nest : {kOutput, kFill}) {
    const std::vector<UOp> results = loopsUnder(kernel, load, nest);
    for (size_t first = 0; first <= results.size(); ++first) lists.add(joined(terms, from(results, first)));
    for (UOp r : results) lists.add(joined(terms, std::span(&r, 1)));
  }
  const std::vector<UOp> results = loopsUnder(kernel, load, kOutput);
  for (size_t i = 0; i + 2 < results.size(); ++i) lists.add({results.back(), results[results.size() - 2], results[i]});
  return std::move(lists.all);
}

// All terms, and the output loops along which windows slide: the innermost of them, or more.
std::vector<std::vector<UOp>> windowsOf(const KernelFacts& kernel, const Access& load) {
  Lists lists;
  const std::vector<UOp> terms = loopsUnder(kernel, load.node, kReduce);
  std::vector<UOp> sliding = loopsUnder(kernel, load.node, kOutput);
  std::erase_if(sliding,
                [&](UOp out) { return std::ranges::none_of(terms, [&](UOp tap) { return slides(load, out, tap); }); });
  for (size_t first = 0; first < sliding.size(); ++first) {
    lists.add(joined(terms, from(sliding, first)));
    for (UOp tap : terms)
      if (slides(load, sliding[first], tap)) lists.add({tap, sliding[first]});
  }
  return std::move(lists.all);
}

// Loads of parameters that are only read.
std::vector<Access> operands(const KernelFacts& kernel) {
  const std::vector<uint32_t> slots = slotsRead(kernel);
  std::vector<Access> loads;
  for (const Access& a : kernel.accesses)
    if (a.slot && std::ranges::binary_search(slots, *a.slot)) loads.push_back(a);
  return loads;
}

// A copy serves one load: no other of the same parameter may depend on all of these loops.
bool isOnlyLoadAlong(const KernelFacts& kernel, const Access& load, std::span<const UOp> loops) {
  return std::ranges::none_of(kernel.accesses, [&](const Access& other) {
    return other.slot == load.slot && other.node != load.node &&
           std::ranges::all_of(loops, [&](UOp r) { return other.node.dependsOn(r); });
  });
}

// opt(slot, loops..) for every operand, without what another load of the same parameter was proposed for.
template <class ListsOf>
std::vector<OptOp> copiesOf(const KernelFacts& kernel, const LoopNames& names, OptKind kind, const ListsOf& listsOf) {
  std::vector<OptOp> moves;
  for (const Access& load : operands(kernel))
    for (const std::vector<UOp>& list : listsOf(load)) {
      if (!isOnlyLoadAlong(kernel, load, list)) continue;
      OptOp move{kind, PackArgs{*load.slot, refsTo(kernel, names, list)}};
      if (std::ranges::find(moves, move) == moves.end()) moves.push_back(std::move(move));
    }
  return moves;
}

// Whether both loops sweep over the same elements: some load moves with one as another of its buffer does with the
// other.
bool walkAlike(const KernelFacts& kernel, UOp a, UOp b) {
  for (const Access& x : kernel.accesses)
    for (const Access& y : kernel.accesses)
      if (!x.isStore && !y.isStore && storageOf(x.node.src(0)) == storageOf(y.node.src(0)) && x.address.dependsOn(a) &&
          y.address.dependsOn(b) && strideOf(x, a) == strideOf(y, b))
        return true;
  return false;
}

// The one node that closes a loop, where hold can move it out of others.
UOp heldBy(const KernelFacts& kernel, UOp range) {
  const std::vector<UOp> closers = kernel.closersOf(range);
  if (closers.size() != 1) return {};
  const bool adds = closers[0].op() == Op::Fill && closers[0].argAs<ReduceArg>().op != Op::Store;
  return adds ? UOp() : closers[0];
}

}  // namespace

std::vector<OptOp> proposePack(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  return copiesOf(kernel, names, OptKind::Pack, [&](const Access& load) { return panelsOf(kernel, load.node); });
}

std::vector<OptOp> proposeWindow(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  return copiesOf(kernel, names, OptKind::Window, [&](const Access& load) { return windowsOf(kernel, load); });
}

std::vector<OptOp> proposeShare(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  std::vector<OptOp> moves;
  const std::vector<UOp> loops = loopsIn(kernel, kOutput | kReduce, {AxisType::Loop, AxisType::Reduce});
  const auto add = [&](std::span<const UOp> list) {
    moves.push_back({OptKind::Share, AxisList{refsTo(kernel, names, list)}});
  };
  const auto isOtherSweep = [&](UOp a, UOp b) {
    return a != b && a.src(0) == b.src(0) && kernel.closersOf(a) != kernel.closersOf(b) && walkAlike(kernel, a, b);
  };
  for (UOp first : loops) {
    std::vector<UOp> sweeps{first};
    for (UOp other : loops)
      if (isOtherSweep(first, other)) sweeps.push_back(other);
    for (size_t i = 1; i < sweeps.size(); ++i) add(std::vector{first, sweeps[i]});
    if (sweeps.size() > 2) add(sweeps);
  }
  return moves;
}

std::vector<OptOp> proposeKBlock(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  if (caps.workgroups) return moves;
  for (UOp block : loopsIn(kernel, kReduce, {AxisType::Reduce})) {
    const std::vector<UOp> reduces = kernel.closersOf(block);
    if (reduces.size() != 1 || !mayFoldInAnyOrder(kernel, block, caps)) continue;
    const std::vector<UOp> out = loopsUnder(kernel, reduces[0], kOutput, 1);
    for (size_t first = 0; first < out.size(); ++first)  // sums of the loops from one on to another
      for (size_t last = first; last < out.size(); ++last)
        moves.push_back({OptKind::KBlock,
                         AxisList{refsTo(kernel, names, joined({block}, from(out, first).first(last - first + 1)))}});
  }
  return moves;
}

std::vector<OptOp> proposeHold(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  std::vector<OptOp> moves;
  const std::vector<UOp> around = loopsIn(kernel, kOutput | kFill, {AxisType::Loop});
  for (UOp r : loopsIn(kernel, kFill | kReduce, {AxisType::Loop, AxisType::Reduce})) {
    const UOp held = heldBy(kernel, r);
    for (UOp loop : around)
      if (held && loop != r && held.dependsOn(loop))
        moves.push_back({OptKind::Hold, AxisList{{refTo(kernel, names, r), refTo(kernel, names, loop)}}});
  }
  return moves;
}

}  // namespace svod
