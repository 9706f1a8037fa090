#include "driver/targets.h"

#include "data/mapped_file.h"
#include "driver/compile.h"
#include "driver/cuda_target.h"
#include "driver/kernel_passes.h"
#include "schedule/graph_passes.h"
#include "support/suggest.h"
#include "target/c/print_c.h"
#include "target/emulated/target.h"
#include "target/llvm/emit.h"
#include "target/target.h"
#include "toolchain/clang.h"
#include "toolchain/object.h"
#include "toolchain/temp_dir.h"

namespace svod {

namespace {

std::span<const std::byte> bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

const CpuTarget& cpuOf(const Machine& machine) { return std::get<CpuTarget>(machine); }

constexpr std::string_view kNative = "native";

Result<Machine> processor(std::string_view triple, std::string_view cpu) {
  SVOD_TRY(CpuTarget found, makeCpuTarget(triple, cpu.empty() ? kNative : cpu));
  return Machine(std::move(found));
}

// ---- cpu: LLVM to objects, LLD to kernels.so where processors load such files

Caps nativeCaps(const Machine& machine, Numerics numerics) { return capsOf(cpuOf(machine), numerics); }

LegalizeOptions nativeOps(const Machine& machine, Numerics numerics) {
  const CpuTarget& cpu = cpuOf(machine);
  return {.numerics = numerics,
          .fma = cpu.hasFma(),
          .nativeF16 = cpu.has("f16c"),
          .nativeBf16 = cpu.hasBf16Dots(),
          .nativeScaleb = cpu.hasScaleb(),
          .narrowIndex = cpu.has32BitPointers()};
}

Status emitObjectOf(CompiledKernel& kernel, const CompileOptions& options) {
  SVOD_TRY(LlvmModule module, emitLlvm({&kernel.linear, 1}, cpuOf(options.machine)));
  if (options.keepSource) kernel.source = irText(*module.module);
  OptLevel level = options.optLevel == 0 ? OptLevel::O0 : OptLevel::O1;
  SVOD_TRY(kernel.code, emitObject(*module.module, cpuOf(options.machine), level));
  if (!options.keepForms) return {};
  kernel.object = kernel.code;
  SVOD_TRY(LlvmModule again, emitLlvm({&kernel.linear, 1}, cpuOf(options.machine)));  // the first one was optimized
  kernel.bitcode = irBitcode(*again.module);
  SVOD_TRY(kernel.assembly, emitObject(*again.module, cpuOf(options.machine), level, CodeKind::Assembly));
  return {};
}

bool isEmpty(const CodeParts& parts) { return parts.kernels.empty() && parts.functions.empty(); }

Status linkObjects(Compilation& c, const CodeParts& parts, const CompileOptions& options) {
  const CpuTarget& cpu = cpuOf(options.machine);
  if (isEmpty(parts) || !cpu.hasElf()) return {};
  SVOD_TRY(std::vector<std::string> objects, compileArithmetic(cpu));
  for (CompiledKernel* k : parts.kernels) objects.push_back(std::move(k->code));
  for (const FunctionObject& f : parts.functions) objects.push_back(f.object);
  std::string& library = c.code.emplace_back();
  SVOD_TRY(library, options.linker->linkShared(objects));
  c.files.push_back({"kernels.so", FileKind::Code, {bytesOf(library)}});
  return {};
}

// ---- c: one C11 file, built when a compiler is given. Loops are those that suit the processor, by default any one of
// the architecture, while the text uses no instruction of its own: whoever compiles it may do that for another one.

Result<Machine> anyProcessor(std::string_view triple, std::string_view cpu) {
  const bool isOther = !triple.empty() && cpu.empty() && !archOfTriple(triple);
  SVOD_TRY(CpuTarget found, makeCpuTarget(isOther ? tripleOf(Arch::AArch64) : triple, cpu));
  if (isOther) found.triple = triple;  // of which nothing is known
  return Machine(std::move(found));
}

Caps portableCaps(const Machine& machine, Numerics numerics) {
  Caps caps = capsOf(cpuOf(machine), numerics);
  caps.bf16Dots = false;
  return caps;
}

LegalizeOptions portableOps(const Machine&, Numerics numerics) { return {.numerics = numerics, .fma = false}; }

Status printKernel(CompiledKernel& kernel, const CompileOptions& options) {
  SVOD_TRY(kernel.code, printFunction(kernel.linear));
  if (options.keepForms) kernel.object = kernel.code;
  if (options.keepSource) kernel.source = joinFunctions({&kernel.code, 1});
  if (!compilesC(options)) return {};
  const OptLevel level = options.optLevel == 0 ? OptLevel::O0 : OptLevel::O1;
  const CFile file{kernel.name + ".c", joinFunctions({&kernel.code, 1})};
  SVOD_TRY(kernel.compiled, compileC(file, cpuOf(options.machine), level));
  return {};
}

Result<std::string> buildLibrary(const std::string& source, const CompileOptions& options) {
  SVOD_TRY(TempDir dir, TempDir::make(options.tempDirectory));
  SVOD_CHECK(writeWholeFile(dir.file("kernels.c"), source));
  SVOD_CHECK(compileShared(options.cCompiler, dir.file("kernels.c"), dir.file("kernels.so")));
  return readWholeFile(dir.file("kernels.so"));
}

Result<std::string> linkCompiledC(const CodeParts& parts, const CompileOptions& options) {
  SVOD_TRY(std::vector<std::string> objects, compileArithmetic(cpuOf(options.machine)));
  for (CompiledKernel* k : parts.kernels) objects.push_back(std::move(k->compiled));
  for (const FunctionObject& f : parts.functions) objects.push_back(f.object);
  if (parts.functions.empty()) {
    SVOD_TRY(std::string memory, compileMemoryFunctions(cpuOf(options.machine)));
    objects.push_back(std::move(memory));
  }
  return options.linker->linkShared(objects);
}

Status joinSource(Compilation& c, const CodeParts& parts, const CompileOptions& options) {
  if (isEmpty(parts)) return {};
  std::vector<std::string> functions;
  for (CompiledKernel* k : parts.kernels) functions.push_back(std::move(k->code));
  const std::string& source = c.code.emplace_back(joinFunctions(functions));
  if (!options.sourceOnly) {
    std::string& library = c.code.emplace_back();
    SVOD_TRY(library, compilesC(options) ? linkCompiledC(parts, options) : buildLibrary(source, options));
    c.files.push_back({"kernels.so", FileKind::Code, {bytesOf(library)}});
  }
  c.files.push_back({"kernels.c", FileKind::Source, {bytesOf(source)}});
  return {};
}

// ---- targets with a grid, all of which is in their folders (target/grid_target.h)

template <auto emit>
Status emitOnGrid(CompiledKernel& kernel, const CompileOptions& options) {
  SVOD_TRY(kernel.code, emit({*kernel.graph, kernel.linear, kernel.desc, options.machine}));
  if (options.keepSource) kernel.source = kernel.code;
  return {};
}

template <auto image>
Status finishImages(Compilation& c, const CodeParts& parts, const CompileOptions& options) {
  for (CompiledKernel* k : parts.kernels) {
    SVOD_TRY(ImageFile file, image(k->name, std::move(k->code), options.machine));
    k->desc.grid->images = {{FileId(c.files.size()), 0, 0}};
    const std::string& bytes = c.code.emplace_back(std::move(file.bytes));
    c.files.push_back({std::move(file.path), FileKind::Image, {bytesOf(bytes)}, std::move(file.needs)});
  }
  return {};
}

constexpr Target kTargets[] = {
    {"cpu", "native code for a CPU, through LLVM; kernels.so", processor, nativeCaps, nativeOps, kernelPasses,
     emitObjectOf, linkObjects, DeviceKind::Cpu, kNative},
    {"c", "portable C11 source, kernels.c, and its kernels.so unless --cc is none", anyProcessor, portableCaps,
     portableOps, kernelPasses, printKernel, joinSource, DeviceKind::Cpu},
    {"cuda", "machine code for NVIDIA's GPUs, through NVRTC; kernels of its own for each --cuda-arch", cuda::machine,
     cuda::caps, cuda::legal, gridKernelPasses, cuda::emitKernel, cuda::finish, cuda::kDeviceKind},
    {"emulated", "workgroups of threads as text, kernels.uop, for a device that interprets it", emulated::machine,
     emulated::caps, emulated::legal, gridKernelPasses, emitOnGrid<emulated::emit>, finishImages<emulated::image>,
     emulated::kDeviceKind},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

Machine machineFor(Machine machine, Numerics numerics) {
  auto* cpu = std::get_if<CpuTarget>(&machine);
  if (cpu == nullptr || cpu->arch != Arch::Arm || numerics == Numerics::Fast || std::erase(cpu->features, "neon") == 0)
    return machine;
  cpu->vectorBytes = 8;
  return machine;
}

std::array<std::span<const Pass>, 2> passTables(const Target& target) { return {graphPasses(), target.passes()}; }

Result<const Target*> targetByName(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Target& t : kTargets) {
    if (t.name == name) return &t;
    names.push_back(t.name);
  }
  return fail(Diag::Usage, "there is no target '" + std::string(name) + "'", choicesFor(name, names));
}

}  // namespace svod
