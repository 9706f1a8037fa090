// Kernel names: readable in profiles, unique by content.
#pragma once
#include <string>

#include "ir/uop.h"

namespace svod {

/// `label_r64x128_1f3c9a2b`: the label as an identifier, r with a reduction or e without, the extents of the
/// output ranges then of the reductions, and the first digits of the content hash. `n64` is a free extent, likely 64.
std::string kernelName(UOp sink, std::string_view label);

}  // namespace svod
