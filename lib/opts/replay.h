// Applying a list of opts to a kernel.
#pragma once
#include <span>

#include "opts/loop_names.h"
#include "opts/opt.h"

namespace svod {

/// A kernel on its way through a list of opts. `sink`: a kernel-stage graph with flat addresses.
struct NamedKernel {
  UOp sink;
  LoopNames names;

  explicit NamedKernel(UOp given) : sink(given), names(given) {}
  NamedKernel(UOp changed, LoopNames now) : sink(changed), names(std::move(now)) {}
};

/// What an opt came to, and the opt with names for the loops it speaks of.
struct AppliedOpt {
  NamedKernel kernel;
  std::vector<MadeLoop> made;
  OptOp opt;
};

/// One opt with every check: its own legality, then checkKernel(). Errors: BadOpt, also where nothing changes; the
/// message starts with the opt's text, and a note or the help line lists the axes.
Result<AppliedOpt> applyOpt(Graph& graph, const NamedKernel& kernel, const OptOp& opt, const Caps& caps);
/// The same for who tries many and drops the errors: their text is that of the opt alone (kAxesHere, legality.h).
Result<AppliedOpt> tryOpt(Graph& graph, const NamedKernel& kernel, const OptOp& opt, const Caps& caps);
/// applyOpt() as the first opt of a list.
Result<UOp> applyOpt(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// The whole list in order, then loops of one iteration are dropped. Nothing is applied partially: an error
/// leaves `sink` valid and unchanged. The same list on the same kernel gives the same graph, so the list is
/// all that needs to be recorded.
Result<UOp> applyOpts(Graph& graph, UOp sink, std::span<const OptOp> opts, const Caps& caps);

/// That last step: loops of one iteration are dropped, indices are simple again, and no thread of a workgroup fills
/// alone what all of them read.
UOp endOfOpts(Graph& graph, UOp sink, const Caps& caps);

/// What no single opt shows: each of the `opts` that made `sink` matters. Errors: BadOpt for a stream or prefetch that
/// no vector passes.
Status checkEffects(UOp sink, std::span<const OptOp> opts);

}  // namespace svod
