// --random: sizes and elements of inputs that have no file, for runs whose values nobody looks at.
#pragma once
#include <string>
#include <vector>

#include "support/aligned_bytes.h"
#include "support/element_type.h"
#include "support/result.h"
#include "svod/runtime.h"

namespace svod {

/// Gives each variable that has no value its least one, but 1 in place of 0 where its bounds allow that. A variable has
/// one where it is named in `given`, or where the shape of a bound input says it. Errors: those of the runtime.
Status chooseLeastSizes(const svod_plan* plan, svod_instance* instance, const std::vector<std::string>& given);

/// `bytes` of elements. Floats are from 1/16 to 1 in magnitude, or the nearest that the type has, and integers from 0
/// to 7, or 0 and 1 below four bits. Equal arguments give equal elements.
AlignedBytes randomElements(ElementType type, uint64_t bytes, uint64_t seed, uint64_t input);

}  // namespace svod
