// Software prefetching: what comes from memory is asked for while other elements are computed.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Operands of streams and rows are prefetched where they do not fit the second level cache.
void prefetchOperands(Chooser& chooser);

/// Operands of products that are read in short runs and do not fit the first level cache: what lies beside each run.
void prefetchColumns(Chooser& chooser);

/// Copies of operands that are read in short runs and do not fit the first level cache are prefetched.
void prefetchCopies(Chooser& chooser);

}  // namespace svod
