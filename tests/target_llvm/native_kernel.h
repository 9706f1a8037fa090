// A kernel compiled by the LLVM target and loaded into the test process.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "linearize/linear.h"
#include "machine/cpu.h"
#include "toolchain/shared_library.h"

namespace svod {

using KernelFunction = void(void* const* buffers, const int64_t* values, int64_t tileBegin, int64_t tileEnd,
                            void* scratch);

CpuTarget nativeCpu();

/// Emits, compiles and links the kernels to the bytes of a library; a failure ends the test case.
std::string buildKernels(std::span<const LinearKernel> kernels, const CpuTarget& cpu);

/// Builds and loads the kernels; a failure ends the test case.
std::unique_ptr<SharedLibrary> loadKernels(std::span<const LinearKernel> kernels, const CpuTarget& cpu);

/// A kernel from the DAG below `sink`, listed in the order of a walk: right for kernels of one loop nest.
LinearKernel kernelOf(UOp sink, const std::string& name, Numerics numerics = Numerics::Strict);

/// A kernel of nodes in the order given.
LinearKernel kernelOf(std::vector<UOp> ops, const std::string& name, Numerics numerics = Numerics::Strict);

}  // namespace svod
