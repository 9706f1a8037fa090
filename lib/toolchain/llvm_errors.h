// Where LLVM, Clang and LLD would abort the process.
#pragma once

namespace svod {

/// Has them call `noMemory` where memory ends, and `failed`, with LLVM's words, where they cannot go on otherwise.
/// Neither may return.
void handleLlvmErrors(void (*noMemory)(), void (*failed)(const char* reason));

}  // namespace svod
