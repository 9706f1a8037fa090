// What a tile of a kernel must have for a thread of its own: work beside what every tile does again.
#pragma once
#include "facts/caps.h"
#include "facts/kernel_facts.h"

namespace svod {

/// Iterations of `axis` that one tile needs so that what does not depend on it is not computed too often, where there
/// are `tiles` already: 1 when everything depends on it, 0 when the axis cannot be split over tiles, or need not be.
int64_t iterationsPerTile(const KernelFacts& kernel, const Caps& caps, UOp axis, int64_t tiles);

}  // namespace svod
