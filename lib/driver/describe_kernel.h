// What a plan says about a compiled kernel.
#pragma once
#include <span>
#include <string>

#include "constants/constant_layout.h"
#include "linearize/linear.h"
#include "plan/plan.h"

namespace svod {

/// What memory holds for values of a dtype; sizes and positions are 64-bit integers there.
ElementType storedType(DType dtype);

/// `ast` is the kernel as scheduled, for its arguments and estimates; `opts` as text; `layouts` of the arguments that
/// are read in another order than `ast` has them; `launched` as launchedIn() found it. Kernels lie in file 0. With
/// `hasGrid` they are launched as workgroups: Unsupported where their threads are no fixed number.
Result<KernelDesc> describeKernel(const LinearKernel& linear, UOp ast, std::string opts,
                                  std::span<const ConstantLayout> layouts, std::span<const UOp> launched, bool hasGrid);

}  // namespace svod
