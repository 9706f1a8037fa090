// Conditions of lanes on processors without registers for masks.
#pragma once
#include "machine/cpu.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace svod {

/// Joins the conditions of masked accesses and of choices as integers as wide as the elements, which is what the
/// instructions take: LLVM joins bits in narrower lanes, and converts each of them to and fro. Accesses that masks make
/// dear have none where all lanes are in it. Nothing where the processor has registers for masks. The last change of a
/// module: LLVM's simplifications would take it back.
void widenMasks(llvm::Module& module, const CpuTarget& cpu);

}  // namespace svod
