// LLVM modules to machine code. The only public header about code generation; it needs no LLVM header to
// include.
#pragma once
#include <cstdint>
#include <string>

#include "machine/cpu.h"
#include "support/result.h"

namespace llvm {
class Module;
}

namespace svod {

/// How hard the code generator works. O0 keeps the loops as written and compiles fastest.
enum class OptLevel : uint8_t { O0, O1 };
/// What is written: a relocatable object (ELF, or WebAssembly) or the text of it for people.
enum class CodeKind : uint8_t { Object, Assembly };

/// Optimizes `module` in place for `cpu` and returns the code as bytes. Loops are taken as they are: nothing
/// is vectorized or unrolled here. The code is position independent, uses only `cpu.features`, calls no
/// library function, and its bytes depend on the module and the arguments alone. Thread-safe for modules of
/// different LLVMContexts. Errors: CompileFailed, with LLVM's message.
Result<std::string> emitObject(llvm::Module& module, const CpuTarget& cpu, OptLevel level,
                               CodeKind kind = CodeKind::Object);

/// Tells a new module the processor, so that what is built in it has the sizes and alignments of that one. Errors:
/// CompileFailed.
Status setDataLayout(llvm::Module& module, const CpuTarget& cpu);

/// The module as LLVM IR text.
std::string irText(const llvm::Module& module);
/// The same as bitcode.
std::string irBitcode(const llvm::Module& module);

}  // namespace svod
