// The opts that split or pad one axis.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<UOp> applyUpcast(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyVector(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyUnroll(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyAcc(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyTile(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<UOp> applyPadTo(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

}  // namespace svod
