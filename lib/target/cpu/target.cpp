#include "target/cpu/target.h"

#include "target/cpu/emit.h"
#include "toolchain/clang.h"
#include "toolchain/linker.h"
#include "toolchain/object.h"

namespace svod::cpu {

namespace {

constexpr std::string_view kNative = "native";

const CpuTarget& cpuOf(const Machine& machine) { return std::get<CpuTarget>(machine); }

Result<Machine> machine(std::string_view triple, std::string_view processor) {
  SVOD_TRY(CpuTarget found, makeCpuTarget(triple, processor.empty() ? usualCpu(triple) : processor));
  return Machine(std::move(found));
}

Caps caps(const Machine& machine, Numerics numerics) { return capsOf(cpuOf(machine), numerics); }

LegalizeOptions legal(const Machine& machine, Numerics numerics) {
  const CpuTarget& cpu = cpuOf(machine);
  return {.numerics = numerics,
          .fma = cpu.hasFma(),
          .nativeF16 = cpu.has("f16c"),
          .nativeBf16 = cpu.hasBf16Dots(),
          .nativeScaleb = cpu.hasScaleb(),
          .keepsSums = true,
          .correctsQuotients = cpu.hasFma(),
          .narrowIndex = cpu.has32BitPointers()};
}

// Names of forms are those of kFiles.
Result<KernelCode> emit(const EmitJob& job) {
  const CpuTarget& cpu = cpuOf(job.machine);
  KernelCode made;
  SVOD_TRY(const LlvmModule module, emitLlvm({&job.linear, 1}, cpu));
  if (job.keepSource || job.keepForms) made.source = irText(*module.module);
  const OptLevel level = job.optLevel == 0 ? OptLevel::O0 : OptLevel::O1;
  SVOD_TRY(made.code, emitObject(*module.module, cpu, level));
  if (!job.keepForms) return made;
  SVOD_TRY(const LlvmModule again, emitLlvm({&job.linear, 1}, cpu));  // the first one was optimized
  made.forms["obj-dir"] = made.code;
  made.forms["llvm-ir"] = made.source;
  made.forms["llvm-bc"] = irBitcode(*again.module);
  SVOD_TRY(made.forms["asm"], emitObject(*again.module, cpu, level, CodeKind::Assembly));
  return made;
}

Result<std::vector<JoinedFile>> join(const JoinJob& job) {
  const CpuTarget& cpu = cpuOf(job.machine);
  std::vector<JoinedFile> files;
  if (job.isEmpty() || !cpu.hasElf()) return files;
  SVOD_TRY(std::vector<std::string> objects, compileArithmetic(cpu));
  for (const JoinJob::Part& kernel : job.kernels) objects.push_back(kernel.code.code);
  for (const FunctionObject& f : job.functions) objects.push_back(f.object);
  SVOD_TRY(std::string library, job.linker->linkShared(objects));
  files.push_back({"kernels.so", FileKind::Code, std::move(library)});
  return files;
}

Result<std::string> emitTogether(std::span<const LinearKernel> kernels, const Machine& machine) {
  SVOD_TRY(const LlvmModule module, emitLlvm(kernels, cpuOf(machine)));
  return emitObject(*module.module, cpuOf(machine), OptLevel::O1);
}

Result<std::string> print(const LinearKernel& kernel, std::string_view triple, std::string_view processor) {
  SVOD_TRY(const Machine made, machine(triple, processor));
  SVOD_TRY(const LlvmModule module, emitLlvm({&kernel, 1}, cpuOf(made)));
  return irText(*module.module);
}

constexpr TargetFiles kFiles[] = {
    {.name = "obj-dir",
     .what = "a folder with a relocatable object for each kernel",
     .extension = ".o",
     .hasFunctions = true},
    {"asm", "a folder with the assembly text of each kernel", ".s"},
    {"llvm-ir", "a folder with the LLVM IR of each kernel, as it is before LLVM's passes", ".ll"},
    {"llvm-bc", "a folder with the same as bitcode", ".bc"},
};

}  // namespace

constexpr Target kTarget{.name = "cpu",
                         .what = "native code for a CPU, through LLVM; kernels.so",
                         .deviceKind = DeviceKind::Cpu,
                         .machine = machine,
                         .caps = caps,
                         .legal = legal,
                         .emit = emit,
                         .join = join,
                         .usualProcessor = kNative,
                         .files = kFiles,
                         .emitTogether = emitTogether,
                         .textForm = "llvm",
                         .print = print};

}  // namespace svod::cpu
