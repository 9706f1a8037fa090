// The plain heuristic schedule of `-O1`: opts from strides and extents, without search.
#pragma once
#include <string>
#include <vector>

#include "optimize/opt.h"
#include "optimize/strides.h"

namespace svod {

/// One decision, and in a phrase what speaks for it.
struct ChosenOpt {
  OptOp opt;
  std::string why;
};

struct Choice {
  Pattern pattern;  // of the kernel as it was given
  std::vector<ChosenOpt> opts;
};

/// A list for applyOpts() that leaves no large loop scalar: one vector axis per store and per reduce, a
/// register tile within the vector registers, column order and a packed panel for matrix products, tiles for
/// threads. Numerics in `caps` decide what may be reassociated. Depends on the kernel and `caps` only. An
/// empty list is a valid answer.
Choice choose(Graph& graph, UOp sink, const Caps& caps);
/// The opts alone.
std::vector<OptOp> optsOf(const Choice& choice);
std::vector<OptOp> chooseOpts(Graph& graph, UOp sink, const Caps& caps);

}  // namespace svod
