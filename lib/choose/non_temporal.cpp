#include "choose/non_temporal.h"

#include "facts/accesses.h"
#include "opts/operand_opts.h"

namespace svod {

void streamOutputs(Chooser& c) {
  for (const Access& a : c.facts().accesses) {
    if (!a.isStore || !a.slot) continue;
    UOp param = storageOf(a.node.src(0));
    const bool isLarge = param.src(0).isConst() && param.maxNumel() >= c.caps.l3Bytes / byteSize(param.dtype());
    if (isLarge && storesVectors(c.sink, *a.slot))
      c.apply(OptKind::Stream, ParamSlot{*a.slot}, "larger than the last cache, so written past it");
  }
}

}  // namespace svod
