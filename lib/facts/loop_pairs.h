// Neighbouring loops that are one loop for all that a kernel reads and writes.
#pragma once
#include "facts/kernel_facts.h"

namespace svod {

/// Whether every access moves by a step of `a` as by all steps of `b`, the loop inside of it, and no value depends on
/// either counter.
bool walksAsOne(const KernelFacts& kernel, UOp a, UOp b);

}  // namespace svod
