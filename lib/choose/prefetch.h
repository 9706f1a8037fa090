// Software prefetching: what comes from memory is asked for while other elements are computed.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Operands of streams and rows are prefetched where they do not fit the second level cache.
void prefetchOperands(Chooser& chooser);

/// Operands of products that are read in short runs and do not fit the first level cache: what lies beside each run.
void prefetchColumns(Chooser& chooser);

/// Weights of sums, in the order in which they are read, where they do not fit the first level cache: a run comes to
/// them after all others, and hardware stops at each page.
void prefetchWeights(Chooser& chooser);

/// Copies of operands that are read in short runs and do not fit the first level cache are prefetched.
void prefetchCopies(Chooser& chooser);

}  // namespace svod
