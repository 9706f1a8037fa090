// The opts that split or pad one axis.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyUpcast(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyVector(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyUnroll(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyAcc(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyTile(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyPadTo(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

}  // namespace svod
