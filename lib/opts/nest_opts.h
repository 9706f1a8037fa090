// The opts that rearrange a loop nest or give its axes to threads or to a GPU grid.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<UOp> applyMerge(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyPitch(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyOrder(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyThread(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyGlobal(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyLocal(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyGroup(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applySwap(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyNoLocals(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

}  // namespace svod
