// How LLVM is told of a processor: the baseline of its architecture and features by name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "machine/cpu.h"

namespace svod {

/// The processor that has nothing but what its architecture demands. Code is generated for it plus explicit features,
/// so that it never uses an extension which the plan does not list; the name of the processor only chooses latencies
/// and instruction preferences.
std::string_view baselineName(Arch arch);
/// Which of its calling conventions objects keep to; empty for an architecture that has one.
std::string_view abiName(Arch arch);

/// The processor whose latencies code is scheduled for, by a name that LLVM and Clang know: mostly that of the record.
std::string tuningName(const CpuTarget& cpu);

/// "+avx2" and so on.
std::vector<std::string> codeFeatures(const CpuTarget& cpu);

/// Enters the code generators of all architectures into LLVM's registry, which a process has one of.
void registerCodeGenerators();

}  // namespace svod
