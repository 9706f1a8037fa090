#include "choose/non_temporal.h"

#include <algorithm>

#include "facts/accesses.h"
#include "facts/axes.h"
#include "opts/operand_opts.h"

namespace svod {

namespace {

/// Elements that the loops around a store write, at most.
int64_t written(UOp store) {
  int64_t count = 1;
  for (UOp r : store.ranges())
    if (__builtin_mul_overflow(count, std::max<int64_t>(1, maxExtent(r)), &count)) return INT64_MAX;
  return count;
}

/// A result may be the work of a few kernels, each of which writes a part; one of free sizes has room for the greatest.
bool isLargerThan(int64_t bytes, UOp param, UOp store) {
  constexpr int64_t kMostParts = 8;
  const int64_t most = bytes / byteSize(param.dtype());
  return param.src(0).isConst() && param.maxNumel() >= most && written(store) >= most / kMostParts;
}

}  // namespace

void streamOutputs(Chooser& c) {
  for (const Access& a : c.facts().accesses) {
    if (!a.isStore || !a.slot) continue;
    UOp param = storageOf(a.node.src(0));
    if (isLargerThan(c.caps.l3Bytes, param, a.node) && storesVectors(c.sink, *a.slot))
      c.apply(OptKind::Stream, ParamSlot{*a.slot}, "larger than the last cache, so written past it");
  }
}

}  // namespace svod
