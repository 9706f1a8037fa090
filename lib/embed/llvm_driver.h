// The functions of an embedded plan as machine code, beside kernels that are objects already.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "embed/interface.h"
#include "machine/cpu.h"

namespace svod {

/// A relocatable object with the functions of the header and the weights; the kernels are symbols that it needs.
/// Errors: CompileFailed.
Result<std::string> driverObject(const Plan& plan, const Interface& made,
                                 std::span<const std::span<const std::byte>> weights, const CpuTarget& cpu);

/// The functions of the header.
std::vector<std::string> functionNames(const Interface& made);

}  // namespace svod
