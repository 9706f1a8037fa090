// Sums over windows that reach beyond an axis run over the terms that are there.
#pragma once
#include "facts/caps.h"
#include "ir/graph.h"

namespace svod {

/// A loop of a reduction whose terms are the identity before and behind some iterations, as gates of their loads say,
/// begins and ends where these do, if only a run knows where that is: no gate on lines is left, and lines beyond the
/// edge cost nothing. Sums of products leave out zeros that padding times a weight gives, infinite ones too: not for
/// strict numerics. Kernel stage in and out.
UOp boundSums(Graph& graph, UOp sink, Numerics numerics);

/// Whether there is such a loop.
bool hasGatedSums(Graph& graph, UOp sink, Numerics numerics);

}  // namespace svod
