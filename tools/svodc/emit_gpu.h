// Kernels of CUDA devices as files by themselves, for every architecture of the plan.
#pragma once
#include <string>
#include <vector>

#include "driver/compile.h"

namespace svod {

struct KernelFile {
  std::string name, bytes;
};

// Errors: Unsupported where the plan has none of that form.
Result<std::vector<KernelFile>> cubinFiles(const Compilation& compilation);
/// Of kernels that were compiled with keepForms, as the next.
Result<std::vector<KernelFile>> ptxFiles(const Compilation& compilation);
/// With what the text needs: NVRTC and nvcc take it as it is.
Result<std::vector<KernelFile>> cudaFiles(const Compilation& compilation);
/// One for each kernel, with all that it has for architectures, PTX among them.
Result<std::vector<KernelFile>> fatbinFiles(const Compilation& compilation);

}  // namespace svod
