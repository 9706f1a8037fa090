// Division of integers on processors that have no instruction for it (an internal header of the room).
#pragma once
#include "machine/cpu.h"

namespace llvm {
class Module;
}

namespace svod {

/// Turns integer divisions that would become calls of a compiler's own library into code.
void expandDivisions(llvm::Module& module, const CpuTarget& cpu);

}  // namespace svod
