#include "choose/grid_operands.h"

#include <algorithm>

#include "facts/local_buffers.h"
#include "facts/loop_pairs.h"
#include "facts/reduces.h"
#include "ir/gpu_op.h"
#include "ir/warpgroup_operand.h"

namespace svod {

namespace {

constexpr const char* kOnce = "what a workgroup reads of an operand, once";

/// Whether neighbours along `outer` are neighbours of an operand in memory.
bool isUnitOf(const KernelFacts& kernel, uint32_t slot, UOp outer, UOp term) {
  return std::ranges::any_of(kernel.accesses, [&](const Access& a) {
    return !a.isStore && a.slot == slot && a.node.dependsOn(term) && strideOf(a, outer) == 1;
  });
}

/// In bulk for warps, where the GPU can: one thread starts what hardware copies.
bool copyInBulk(Chooser& c, uint32_t first, int stages, const TensorCore* core) {
  return core && stages > 1 && c.apply(OptKind::Bulk, first, stages, "hardware copies ahead of the products");
}

/// With rows along what is contiguous in memory.
void shareOperand(Chooser& c, uint32_t slot, uint32_t outer, uint32_t term, int stages, const TensorCore* core) {
  const bool isTurned = isUnitOf(c.facts(), slot, c.range(outer), c.range(term));
  const uint32_t rows = isTurned ? term : outer, inRow = isTurned ? outer : term;
  const UOp from = c.range(rows);
  if (!c.apply(OptKind::Pack, PackArgs{slot, {c.numberOf(rows), c.numberOf(inRow)}}, kOnce)) return;
  const uint32_t first = idOf(c.madeCopy(from));
  const UOp fill = c.facts().closersOf(c.range(first))[0];
  const int64_t width = widestCopy(fill), rowBytes = maxExtent(fill.src(fill.srcCount() - 1)) * byteSize(fill.dtype());
  if (byteSize(fill.dtype()) == 2) c.apply(OptKind::Swizzle, first, rowBytes, "rows of matrices in different banks");
  if (copyInBulk(c, first, stages, core)) return;
  if (stages > 1 && width * byteSize(fill.dtype()) >= 4)
    c.apply(OptKind::Async, first, stages, "copies run ahead of the products");
  c.apply(OptKind::Spread, first, width, "all threads copy");
}

/// For a warpgroup, in rows of 128 bytes: of terms, or of what is contiguous in memory, the next ones behind those of
/// all terms. False where 16 bytes of it are not copied at once.
bool shareInRows(Chooser& c, uint32_t slot, uint32_t outer, uint32_t term, int stages, const TensorCore& core) {
  const bool isTurned = isUnitOf(c.facts(), slot, c.range(outer), c.range(term));
  const uint32_t inner = isTurned ? c.innerOfTile(outer, kOperandRow / byteSize(core.in), "rows of 128 bytes") : outer;
  PackArgs args{slot, {c.numberOf(outer), c.numberOf(term)}};
  if (isTurned && inner != outer) args.axes.push_back(c.numberOf(inner));
  if (isTurned && inner == outer) std::swap(args.axes[0], args.axes[1]);
  const UOp from = c.range(isTurned && inner == outer ? term : outer);
  if (!c.apply(OptKind::Pack, args, kOnce)) return false;
  const uint32_t first = idOf(c.madeCopy(from));
  const int64_t width = widestCopy(c.facts().closersOf(c.range(first))[0]);
  if (width * byteSize(core.in) != kAccessBytes) return false;
  return c.apply(OptKind::Swizzle, first, kOperandRow, "places in which a warpgroup finds them") &&
         (copyInBulk(c, first, stages, &core) ||
          (c.apply(OptKind::Async, first, stages, "copies run ahead of the products") &&
           c.apply(OptKind::Spread, first, width, "all threads copy"))) &&
         (inner == outer ||
          c.apply(OptKind::Merge, AxisList{{c.numberOf(outer), c.numberOf(inner)}}, "one tile again"));
}

std::vector<uint32_t> operandsOf(UOp factor, UOp term) {
  std::vector<uint32_t> slots;
  for (UOp n : toposort(factor)) {
    if (n.op() != Op::Load || !n.dependsOn(term)) continue;
    UOp storage = storageOf(n.src(0));
    if (storage.op() == Op::Param && std::ranges::find(slots, storage.argAs<SlotArg>().slot) == slots.end())
      slots.push_back(storage.argAs<SlotArg>().slot);
  }
  return slots;
}

/// Slots of what sums over `term` read along it.
std::vector<uint32_t> operandsAlong(const KernelFacts& kernel, UOp term) {
  std::vector<uint32_t> slots;
  for (UOp reduce : kernel.closersOf(term))
    for (uint32_t slot : operandsOf(reduce.src(0), term))
      if (std::ranges::find(slots, slot) == slots.end()) slots.push_back(slot);
  return slots;
}

bool isReadAlong(const KernelFacts& kernel, uint32_t slot, UOp outer, UOp term) {
  return std::ranges::any_of(kernel.accesses, [&](const Access& a) {
    return a.slot == slot && !a.isStore && a.node.dependsOn(outer) && a.node.dependsOn(term);
  });
}

}  // namespace

bool shareOperands(Chooser& c, uint32_t outer, uint32_t term, int stages, const TensorCore* core) {
  for (uint32_t slot : operandsAlong(c.facts(), c.range(term))) {
    if (!isReadAlong(c.facts(), slot, c.range(outer), c.range(term))) continue;
    if (!core || !core->isOfWarpgroup())
      shareOperand(c, slot, outer, term, stages, core);
    else if (!shareInRows(c, slot, outer, term, stages, *core))
      return false;
  }
  return true;
}

}  // namespace svod
