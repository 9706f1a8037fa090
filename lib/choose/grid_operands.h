// Copies of operands of matrix products that the threads of a workgroup share.
#pragma once
#include "choose/chooser.h"
#include "ir/tensor_core.h"

namespace svod {

/// Copies whatever sums over `term` read along it and along `outer` (both inside of tiles, by id), with rows along what
/// is contiguous in memory; in rings of `stages`, if more than one. For a core of warpgroups in rows of 128 bytes, or
/// false.
bool shareOperands(Chooser& chooser, uint32_t outer, uint32_t term, int stages, const TensorCore* core);

}  // namespace svod
