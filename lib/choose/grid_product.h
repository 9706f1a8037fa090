// Matrix products, and convolutions as such, in tiles for the workgroups of a GPU.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Whether sums of the kernel multiply rows of one operand by columns of another.
bool multipliesMatrices(const KernelFacts& kernel, const Caps& caps);

/// The tile that the cost model prefers among those that work out: both operands in copies that the workgroup shares,
/// read by tensor cores, or by single lanes in register tiles.
bool multiplyWithCores(Chooser& chooser);
bool multiplyWithLanes(Chooser& chooser);

}  // namespace svod
