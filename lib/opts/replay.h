// Applying a list of opts to a kernel.
#pragma once
#include <span>

#include "opts/opt.h"

namespace svod {

/// One opt with every check: its own legality, then checkKernel(). `sink` is a kernel-stage graph with flat
/// addresses. Errors: BadOpt, also where nothing changes; the message starts with the opt's text, and a note or the
/// help line lists the axes.
Result<UOp> applyOpt(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// The whole list in order, then loops of one iteration are dropped. Nothing is applied partially: an error
/// leaves `sink` valid and unchanged. The same list on the same kernel gives the same graph, so the list is
/// all that needs to be recorded.
Result<UOp> applyOpts(Graph& graph, UOp sink, std::span<const OptOp> opts, const Caps& caps);

/// What no single opt shows: each of the `opts` that made `sink` matters. Errors: BadOpt for a stream or prefetch that no
/// vector passes.
Status checkEffects(UOp sink, std::span<const OptOp> opts);

}  // namespace svod
