// The text of a kernel for CUDA, compiled for this processor and ready to be called.
#pragma once
#include <memory>
#include <string>

#include "cuda_grid/calls.h"
#include "support/result.h"
#include "toolchain/linker.h"

namespace svod {

class HostKernel {
 public:
  using Function = void (*)();

  /// Compiles in process. Errors: CompileFailed.
  static Result<HostKernel> load(const std::string& text, const std::string& symbol, Linker& linker);

  Function function() const { return function_; }
  /// What the code calls from now on; to be set before it runs.
  void use(const SvodCalls* calls) const { use_(calls); }

 private:
  std::shared_ptr<void> library_;
  Function function_ = nullptr;
  void (*use_)(const SvodCalls*) = nullptr;
};

}  // namespace svod
