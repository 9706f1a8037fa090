// Opts of copies in the memory that a workgroup shares, and of the order of its grid.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applySpread(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applySwizzle(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyAsync(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyBulk(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyRaster(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// `root` with another local buffer in place of the one that `fill` fills; `arg` tells them apart.
UOp withBuffer(Graph& graph, UOp root, UOp fill, const SlotArg& arg);

/// Local buffers whose elements one thread of a workgroup would fill alone, one after the other, dealt to all of its
/// threads as `spread` does, as many at once as are neighbours. Hardware fills those that are boxes of a tensor.
UOp spreadLoneFills(Graph& graph, UOp sink, const Caps& caps);

/// Whether a node of the value of a stage is made of another local buffer, or by several threads.
bool needsOthers(UOp node);

}  // namespace svod
