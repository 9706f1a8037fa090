#include "opts/stash_opt.h"

#include <algorithm>
#include <bit>

#include "facts/accesses.h"
#include "facts/local_buffers.h"
#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "opts/deal.h"
#include "opts/legality.h"
#include "opts/local_copy.h"
#include "opts/stage_opts.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

bool isOfTile(UOp range) { return isThreadOfGroup(axisType(range)) || isExpanded(axisType(range)); }

std::vector<UOp> storesTo(UOp sink, uint32_t slot) {
  std::vector<UOp> stores;
  for (const Access& a : accessesOf(sink))
    if (a.isStore && a.slot == slot) stores.push_back(a.node);
  return stores;
}

Access accessOf(UOp store) { return {store, store.src(0).src(1), std::nullopt, true}; }

/// What a workgroup computes of a result before it goes out, by its loops, the outermost in memory first.
struct ResultTile {
  std::vector<UOp> loops;
  int64_t elements = 1, row = 1;  // of all; of neighbours in memory
};

ResultTile tileOf(UOp end) {
  const Access access = accessOf(end.src(0));
  ResultTile tile;
  for (UOp r : end.src().subspan(1))
    if (isOfTile(r)) tile.loops.push_back(r), tile.elements *= maxExtent(r);
  const auto strideAlong = [&](UOp r) { return strideOf(access, r).value_or(INT64_MAX); };
  std::ranges::stable_sort(tile.loops, std::ranges::greater(), strideAlong);
  for (size_t i = tile.loops.size(); i-- > 0 && strideAlong(tile.loops[i]) == tile.row;)
    tile.row *= maxExtent(tile.loops[i]);
  return tile;
}

/// Rows in other places where they have the length of a swizzle, or several of them, so that columns spare the banks.
uint8_t swizzleFor(int64_t rowBytes) {
  const int64_t bytes = std::has_single_bit(static_cast<uint64_t>(rowBytes)) ? std::min(rowBytes, kMostSwizzle) : 0;
  return isSwizzle(bytes) ? swizzleOf(bytes) : uint8_t{0};
}

/// The value of the store in a buffer as large as the tile.
UOp stashed(Graph& g, UOp store, const ResultTile& tile, uint32_t slot) {
  UOp fill = g.fill(store.src(1), tile.loops, slot);
  SlotArg arg = bufferOf(fill).argAs<SlotArg>();
  arg.swizzle = swizzleFor(tile.row * byteSize(store.src(1).dtype()));
  return withBuffer(g, fill, fill, arg);
}

/// The loops of the store with all elements of the tile dealt to the threads, `width` neighbours at once.
UOp goingOut(Graph& g, UOp end, const ResultTile& tile, UOp fill, int64_t width, uint32_t id) {
  const auto [ranges, place, at] = dealtToThreads(g, tile.loops, width, id);
  UOp store = end.src(0);
  std::vector<UOp> src{substitute(g, store.src(0), tile.loops, at), g.load(g.indexInto(fill, {&place, 1}))};
  if (store.srcCount() > 2) src.push_back(substitute(g, store.src(2), tile.loops, at));
  std::vector<UOp> closed{g.make(Op::Store, DType::Void, src)};
  for (UOp r : end.src().subspan(1))
    if (!isOfTile(r)) closed.push_back(r);
  closed.insert(closed.end(), ranges.begin(), ranges.end());
  return simplify(g, g.make(Op::End, DType::Void, closed));
}

/// Whether several threads work out together where a result goes: those that send it out are others.
bool isPlacedTogether(UOp store, const ResultTile& tile) {
  const auto dependsOnTile = [&](UOp n) {
    return std::ranges::any_of(tile.loops, [&](UOp r) { return n.dependsOn(r); });
  };
  for (size_t i = 0; i < store.srcCount(); i += 2)  // the address, and the gate
    for (UOp n : toposort(store.src(i)))
      if (needsOthers(n) && dependsOnTile(n)) return true;
  return false;
}

/// Whether the last loop counts neighbours that are stored at once.
bool storesTogether(UOp end, int64_t width) {
  if (width == 1) return true;
  const UOp store = end.src(0), lanes = end.src(end.srcCount() - 1);
  const bool isGatedAlong = store.srcCount() > 2 && store.src(2).dependsOn(lanes);
  return !isGatedAlong && togetherAlong(accessOf(store), lanes, width) == width;
}

}  // namespace

Result<UOp> nestToStash(UOp sink, uint32_t slot) {
  const std::string param = "parameter " + std::to_string(slot);
  const std::vector<UOp> stores = storesTo(sink, slot);
  if (stores.size() != 1)
    return fail(Diag::BadOpt, param + (stores.empty() ? " is not written by the kernel" : " is written several times"),
                "stash takes the number of an output");
  UOp end;
  for (UOp n : toposort(sink))
    if (n.op() == Op::End && n.src(0) == stores[0]) end = n;
  if (!end) return fail(Diag::BadOpt, "the loops that write " + param + " write another result as well");
  const std::span<const UOp> loops = end.src().subspan(1);
  if (std::ranges::any_of(loops, [](UOp r) { return axisType(r) == AxisType::Spread; }))
    return fail(Diag::BadOpt, param + " is stashed already", "leave one of the two out");
  if (std::ranges::none_of(loops, [](UOp r) { return isThreadOfGroup(axisType(r)); }))
    return fail(Diag::BadOpt, "no threads of a workgroup share the loops that write " + param,
                "put stash after tc and local");
  return end;
}

Result<Applied> applyStash(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  if (!caps.workgroups) return fail(Diag::BadOpt, "the target has no workgroups", "threads of a CPU share no results");
  const uint32_t slot = std::get<ParamSlot>(opt.args).slot;
  SVOD_TRY(UOp end, nestToStash(sink, slot));
  const ResultTile tile = tileOf(end);
  if (isPlacedTogether(end.src(0), tile))
    return fail(Diag::BadOpt,
                "where results of parameter " + std::to_string(slot) + " go is computed by several threads",
                "stash takes a result whose place follows from its loops");
  const int64_t size = byteSize(end.src(0).src(1).dtype());
  UOp fill = stashed(g, end.src(0), tile, nextBufferSlot(sink));
  for (int64_t width = kAccessBytes / size; width * size >= 4 && width > 0; width /= 2) {
    if (tile.elements % width != 0) continue;
    UOp out = goingOut(g, end, tile, fill, width, nextRangeId(sink));
    if (storesTogether(out, width)) return Applied(substitute(g, sink, {&end, 1}, {&out, 1}));
  }
  return fail(Diag::BadOpt, "no threads write 4 bytes of parameter " + std::to_string(slot) + " or more at once",
              "rows of the result start at multiples of 4, 8 or 16 bytes, and are not masked in between");
}

}  // namespace svod
