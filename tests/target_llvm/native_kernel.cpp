#include "target_llvm/native_kernel.h"

#include <catch2/catch.hpp>

#include "target/cpu/emit.h"
#include "toolchain/linker.h"
#include "toolchain/object.h"

namespace svod {

CpuTarget nativeCpu() { return makeCpuTarget("", "native").value(); }

std::string buildKernels(std::span<const LinearKernel> kernels, const CpuTarget& cpu) {
  const auto module = emitLlvm(kernels, cpu);
  if (!module) FAIL(toText(module.error()));
  const auto object = emitObject(*module->module, cpu, OptLevel::O1);
  if (!object) FAIL(toText(object.error()));
  Linker linker("/tmp");
  const auto bytes = linker.linkShared(std::span(&*object, 1));
  if (!bytes) FAIL(toText(bytes.error()));
  return *bytes;
}

std::unique_ptr<SharedLibrary> loadKernels(std::span<const LinearKernel> kernels, const CpuTarget& cpu) {
  auto library = std::make_unique<SharedLibrary>(buildKernels(kernels, cpu));
  if (!library->error().empty()) FAIL(library->error());
  return library;
}

LinearKernel kernelOf(UOp sink, const std::string& name, Numerics numerics) {
  return kernelOf(toposort(sink), name, numerics);
}

LinearKernel kernelOf(std::vector<UOp> ops, const std::string& name, Numerics numerics) {
  LinearKernel kernel;
  kernel.name = name;
  kernel.numerics = numerics;
  for (UOp op : ops) {
    if (op.op() == Op::Var) kernel.variables.push_back(op);
    if (op.op() == Op::Range && op.argAs<AxisArg>().type == AxisType::Thread) kernel.threadRange = op;
    if (op.op() == Op::Buffer && op.argAs<SlotArg>().space == Space::Local)
      kernel.scratchBytes += (op.maxNumel() * byteSize(op.dtype()) + 63) / 64 * 64;
  }
  kernel.ops = std::move(ops);
  return kernel;
}

}  // namespace svod
