// The functions of an embedded plan as machine code, beside kernels that are objects already.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "embed/interface.h"
#include "machine/cpu.h"

namespace svod {

/// A relocatable object with the functions of the header and the weights; where the plan has code for several
/// processors it needs processorCode() beside it, and `cpu` is any of them. `kernels` are modules of LLVM as bitcode
/// that become part of it, unseen from outside; those of the plan that are not there are symbols which it needs.
/// Errors: CompileFailed.
Result<std::string> driverObject(const Plan& plan, const Interface& made,
                                 std::span<const std::span<const std::byte>> weights, const CpuTarget& cpu,
                                 std::span<const std::string> kernels);

/// The functions of the header, each by its plain name and as symbolOf names it.
std::vector<std::string> functionNames(const Interface& made);

}  // namespace svod
