#include "lower/warpgroup_sums.h"

#include <algorithm>

#include "ir/gpu_op.h"
#include "symbolic/memory_factor.h"

namespace svod {

namespace {

constexpr std::string_view kWait = "wgmma_wait";

UOp number(Graph& g, int64_t n) { return g.constant(Scalar::ofInt(DType::I32, n)); }

UOp instruction(Graph& g, std::string_view name, std::vector<UOp> src, std::span<const UOp> more) {
  src.insert(src.end(), more.begin(), more.end());
  return g.make(Op::Gpu, DType::Void, src, NameArg{name});
}

/// Products see what bulk copies brought as it is.
bool isOfBulkCopies(UOp barrier) {
  const auto waits = [](UOp n, bool inBulk) {
    return n.op() == Op::Gpu && gpuOpOf(n).does(Waits) && gpuOpOf(n).does(Bulk) == inBulk;
  };
  return std::ranges::all_of(barrier.src(), [&](UOp n) {
    return n.op() == Op::Range ||
           (waits(n, true) && std::ranges::none_of(n.src(), [&](UOp s) { return waits(s, false); }));
  });
}

}  // namespace

WarpgroupTerm warpgroupTerm(Graph& g, const CoreForm& form, const std::function<UOp(UOp)>& expanded) {
  const auto first = [&](UOp factor) { return expanded(firstOfTile(g, form, factor)).src(0); };
  return {first(form.a), first(form.b), *partsApart(form, form.a), *partsApart(form, form.b)};
}

UOp sumOfWarpgroup(Graph& g, uint32_t slot, const TensorCore& core, std::span<const UOp> loops,
                   std::span<const WarpgroupTerm> terms) {
  const int64_t count = core.c.elements();
  UOp size = g.index(count), registers = g.buffer(core.out, {&size, 1}, {slot, Space::Reg}), zero = g.index(0);
  UOp all = g.make(Op::Ramp, DType::Index, {zero}, SlotArg{static_cast<uint32_t>(count)});
  std::vector<UOp> outer{registers};
  for (const WarpgroupTerm& t : terms)
    for (UOp address : {t.a, t.b})
      for (UOp r : address.ranges())
        if (std::ranges::find(loops, r) == loops.end() && std::ranges::find(outer, r) == outer.end())
          outer.push_back(r);
  UOp fresh = outer.size() == 1 ? registers : g.make(Op::After, core.out, outer);
  UOp none = g.constant(Scalar::of(core.out, 0));
  UOp init = g.make(Op::Store, DType::Void, {g.indexInto(fresh, {&all, 1}), none});
  std::vector<UOp> inside{registers, init};
  inside.insert(inside.end(), loops.begin(), loops.end());
  UOp sums = g.indexInto(g.make(Op::After, core.out, inside), {&zero, 1});
  UOp last = instruction(g, "wgmma_fence", {sums}, loops);
  for (const WarpgroupTerm& t : terms)
    last = instruction(g, core.name, {sums, t.a, t.b, number(g, t.aApart), number(g, t.bApart), last}, {});
  UOp commit = instruction(g, "wgmma_commit", {last}, loops);
  UOp done = instruction(g, kWait, {sums, number(g, 0), commit}, loops);
  if (!loops.empty()) {
    std::vector<UOp> end{done};
    end.insert(end.end(), loops.begin(), loops.end());
    done = g.make(Op::End, DType::Void, end);
  }
  return g.load(g.indexInto(g.make(Op::After, core.out, {registers, done}), {&all, 1}));
}

UOp waitForRings(UOp sink, UOp loop, std::span<const UOp> filled) {
  const auto isRing = [&](UOp factor) { return std::ranges::find(filled, factor.src(0)) != filled.end(); };
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::End || n.srcCount() != 2 || n.src(1) != loop) continue;
    const UOp wait = n.src(0);
    const bool isWait = wait.op() == Op::Gpu && wait.argAs<NameArg>().name == kWait && wait.src(1).isConst(0);
    for (UOp p : toposort(wait))
      if (productOf(p) && !(isRing(p.src(1)) && isRing(p.src(2)))) return {};
    return isWait ? wait : UOp();
  }
  return {};
}

UOp leaveUnderWay(Graph& g, UOp sink, UOp wait) {
  std::vector<UOp> src(wait.src().begin(), wait.src().end());
  src[1] = number(g, 1);
  UOp other = g.withSrc(wait, src);
  return substitute(g, sink, {&wait, 1}, {&other, 1});
}

UOp allDone(Graph& g, UOp wait, UOp end) {
  UOp registers = storageOf(wait.src(0)), zero = g.index(0);
  return instruction(g, kWait, {g.indexInto(registers, {&zero, 1}), number(g, 0), end}, {});
}

UOp fenceProducts(Graph& g, UOp sink) {
  std::vector<UOp> barriers;
  for (UOp n : toposort(sink)) {
    if (!productOf(n)) continue;
    for (size_t i : {1, 2})
      for (UOp s : n.src(i).src(0).src())
        if (s.op() == Op::Barrier && !isOfBulkCopies(s) && std::ranges::find(barriers, s) == barriers.end())
          barriers.push_back(s);
  }
  if (barriers.empty()) return sink;
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) -> UOp {
    if (std::ranges::find(barriers, n) == barriers.end())
      return std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    std::vector<UOp> meet{g.make(Op::Gpu, DType::Void, src, NameArg{"fence_async"})};
    for (UOp s : src)
      if (s.op() == Op::Range) meet.push_back(s);
    return g.make(Op::Barrier, DType::Void, meet);
  });
}

}  // namespace svod
