#include "toolchain/llvm_errors.h"

#include <llvm/Support/ErrorHandling.h>

#include <cstdlib>
#include <string_view>

namespace svod {

namespace {

struct Handlers {
  void (*noMemory)() = nullptr;
  void (*failed)(const char* reason) = nullptr;
};
Handlers handlers;

/// A process that was forked from this one has no other way.
[[noreturn]] void endOfMemory() {
  handlers.noMemory();
  std::abort();
}

}  // namespace

void handleLlvmErrors(void (*noMemory)(), void (*failed)(const char* reason)) {
  handlers = {noMemory, failed};
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { endOfMemory(); });
  llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
    // The memory of code is asked for by mmap, whose failure is an error like others.
    if (std::string_view(reason).find("allocate memory") != std::string_view::npos) endOfMemory();
    handlers.failed(reason);
  });
}

}  // namespace svod
