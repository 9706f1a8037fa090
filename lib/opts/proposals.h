// The `propose` column of the table of opts, and what its functions share.
#pragma once
#include <initializer_list>
#include <span>
#include <vector>

#include "facts/kernel_facts.h"
#include "opts/loop_names.h"
#include "opts/opt.h"

namespace svod {

#define SVOD_PROPOSE(kind) \
  std::vector<OptOp> propose##kind(const KernelFacts& kernel, const LoopNames& names, const Caps& caps)
SVOD_PROPOSE(Upcast);
SVOD_PROPOSE(Vector);
SVOD_PROPOSE(Unroll);
SVOD_PROPOSE(Acc);
SVOD_PROPOSE(Dot);
SVOD_PROPOSE(Tc);
SVOD_PROPOSE(Tile);
SVOD_PROPOSE(PadTo);
SVOD_PROPOSE(Merge);
SVOD_PROPOSE(Pitch);
SVOD_PROPOSE(Order);
SVOD_PROPOSE(Thread);
SVOD_PROPOSE(Pack);
SVOD_PROPOSE(Window);
SVOD_PROPOSE(Share);
SVOD_PROPOSE(KBlock);
SVOD_PROPOSE(Hold);
SVOD_PROPOSE(Prefetch);
SVOD_PROPOSE(Stream);
SVOD_PROPOSE(Global);
SVOD_PROPOSE(Local);
SVOD_PROPOSE(Group);
SVOD_PROPOSE(GroupTop);
SVOD_PROPOSE(Swap);
SVOD_PROPOSE(NoLocals);
SVOD_PROPOSE(Spread);
SVOD_PROPOSE(Swizzle);
SVOD_PROPOSE(Async);
SVOD_PROPOSE(Bulk);
SVOD_PROPOSE(Raster);
SVOD_PROPOSE(Persist);
SVOD_PROPOSE(Stash);
#undef SVOD_PROPOSE

/// By name, or by number where a loop has none.
AxisRef refTo(const KernelFacts& kernel, const LoopNames& names, UOp range);
std::vector<AxisRef> refsTo(const KernelFacts& kernel, const LoopNames& names, std::span<const UOp> ranges);

/// The loops of `least` iterations or more in some nests (NestSet, legality.h) that have one of these types, in the
/// order of their numbers.
std::vector<UOp> loopsIn(const KernelFacts& kernel, uint8_t nests, std::initializer_list<AxisType> types,
                         int64_t least = 2);
/// Whether the order of what is folded along a loop is free.
bool mayFoldInAnyOrder(const KernelFacts& kernel, UOp range, const Caps& caps);
/// Slots of the parameters that the kernel only reads, and those it only writes, each in rising order.
std::vector<uint32_t> slotsRead(const KernelFacts& kernel);
std::vector<uint32_t> slotsWritten(const KernelFacts& kernel);

/// One opt for each amount that is less than the extent, and with `whole` one for all of a loop of constant extent.
struct Amounts {
  std::span<const int64_t> sizes;
  int64_t whole = 0;  // most iterations of a loop that is taken whole
};
void addAmounts(std::vector<OptOp>& moves, OptKind kind, const AxisRef& axis, UOp range, const Amounts& amounts);

}  // namespace svod
