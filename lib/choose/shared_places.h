// Loop-invariant code motion by loop interchange: what a loop does not depend on is computed once for many iterations.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Of a kernel without sums that reads elements whose place it computes: the loop that most of the work does not depend
/// on (channels under one grid of places) goes inside of the others, in blocks whose stores stay in cache.
bool sharePlaces(Chooser& chooser);

}  // namespace svod
