// Which of several processors a program runs on, asked by code that needs nothing of svod.
#pragma once
#include <span>
#include <string>

#include "machine/machine.h"
#include "plan/variants.h"

namespace svod {

/// The function that the code defines, and that is called by drivers of plans for several processors.
constexpr const char* kProcessorFunction = "svod_processor";

/// A file of C11: `int32_t svod_processor(void)` gives the index of the best of `processors` that this machine is, or
/// processors.size(). It looks once; threads may call it at once. On x86-64 it calls nothing, elsewhere getauxval of
/// the C library.
std::string processorCode(std::span<const Processor> processors, Arch arch);

}  // namespace svod
