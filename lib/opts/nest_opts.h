// The opts that rearrange a loop nest or give its axes to threads or to a GPU grid.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyMerge(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyPitch(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyOrder(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyThread(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyGlobal(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyLocal(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyGroup(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applySwap(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyNoLocals(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

}  // namespace svod
