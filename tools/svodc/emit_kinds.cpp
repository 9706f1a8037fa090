#include "emit_kinds.h"

#include <filesystem>

#include "embed/c_file.h"
#include "embed/function_table.h"
#include "embed/llvm_driver.h"
#include "emit_cmake.h"
#include "emit_interface.h"
#include "emit_variants.h"
#include "emit_web.h"
#include "plan/contents.h"
#include "plan/pack.h"
#include "target/c/print_c.h"
#include "toolchain/archive.h"
#include "toolchain/bitcode.h"
#include "toolchain/clang.h"

namespace svod {

std::vector<const CompiledKernel*> processorKernels(const Compilation& c) {
  std::vector<const CompiledKernel*> kernels;
  for (const CompiledKernel& k : c.kernels)
    if (!k.desc.grid) kernels.push_back(&k);
  return kernels;
}

Status checkHasKernels(const Compilation& c, std::string_view kind) {
  if (!processorKernels(c).empty() || !c.functions.empty()) return {};
  return fail(Diag::Unsupported,
              "the plan has no kernels of a processor, which --emit " + std::string(kind) + " writes",
              "leave --emit " + std::string(kind) + " out");
}

std::vector<std::span<const std::byte>> weightsOf(const Compilation& c) {
  for (const PlanFile& file : c.files)
    if (file.kind == FileKind::Weights) return file.chunks;
  return {};
}

std::string bytesOf(const PlanFile& file) {
  std::string bytes;
  for (const std::span<const std::byte> chunk : file.chunks)
    bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  return bytes;
}

namespace {

std::vector<std::string> objectsOf(const Compilation& c) {
  std::vector<std::string> objects;
  for (const CompiledKernel* k : processorKernels(c)) objects.push_back(k->code);
  for (const FunctionObject& f : c.functionObjects) objects.push_back(f.object);
  return objects;
}

const CpuTarget& cpuOf(const EmitSource& from) { return std::get<CpuTarget>(from.options.machine); }

/// The kernels as modules, where their objects cannot be joined.
Result<std::vector<std::string>> bitcodeOf(const Compilation& c) {
  if (!c.functions.empty())
    return fail(Diag::Unsupported, "WebAssembly has no functions of C files beside kernels",
                "compile the file of C with the program, and call its functions there");
  std::vector<std::string> modules;
  for (const CompiledKernel* k : processorKernels(c)) modules.push_back(k->forms.at("llvm-bc"));
  return modules;
}

Result<std::string> objectOfKernels(const EmitSource& from) {
  SVOD_CHECK(checkHasKernels(from.compilation, "obj"));
  if (!cpuOf(from).hasElf()) {
    SVOD_TRY(const std::vector<std::string> modules, bitcodeOf(from.compilation));
    return objectOfBitcode(modules, cpuOf(from), from.options.optLevel == 0 ? OptLevel::O0 : OptLevel::O1);
  }
  return from.options.linker->linkRelocatable(objectsOf(from.compilation));
}

Result<std::string> header(const EmitSource& from) {
  SVOD_TRY(const Interface made, taggedInterface(from));
  return headerText(from.compilation.plan, made);
}

/// What a file of C is made of.
Result<EmbedParts> partsOf(const EmitSource& from, const std::string& kind) {
  if (!from.compilation.functions.empty())
    return fail(Diag::Unsupported, "--emit " + kind + " does not hold functions of C files",
                "leave --emit " + kind + " out");
  EmbedParts parts{{}, freestandingHead, weightsOf(from.compilation)};
  for (const CompiledKernel& k : from.compilation.kernels) parts.kernels.push_back(k.code);
  return parts;
}

Result<std::string> portableFile(const EmitSource& from) {
  SVOD_TRY(const EmbedParts parts, partsOf(from, "c"));
  SVOD_TRY(const Interface made, taggedInterface(from));
  return fileText(from.compilation.plan, made, parts);
}

Result<std::string> functionTable(const EmitSource& from) {
  const Plan& plan = from.compilation.plan;
  SVOD_TRY(const EmbedParts parts, partsOf(from, "functions"));
  SVOD_TRY(const std::string prefix, prefixOf(plan, from.embed));
  SVOD_TRY(const PlanContents contents, contentsOf(plan, from.compilation.files));
  return functionTableText(plan, prefix, parts, {contents.record.data(), contents.record.size()});
}

/// The kernels and the driver, of which others see the functions of the header.
Result<std::string> objectOfPlan(const EmitSource& from, const Interface& made) {
  const Compilation& c = from.compilation;
  const CpuTarget& cpu = cpuOf(from);
  if (!c.variants.empty()) return objectOfVariants(from, made, weightsOf(c));
  if (!cpu.hasElf()) {
    SVOD_TRY(const std::vector<std::string> modules, bitcodeOf(c));
    return driverObject(c.plan, made, weightsOf(c), cpu, modules);
  }
  SVOD_TRY(std::string driver, driverObject(c.plan, made, weightsOf(c), cpu, {}));
  std::vector<std::string> objects = objectsOf(c);
  objects.insert(objects.begin(), std::move(driver));
  SVOD_TRY(const std::vector<std::string> arithmetic, compileArithmetic(cpu));
  objects.insert(objects.end(), arithmetic.begin(), arithmetic.end());
  SVOD_TRY(const std::string object, from.options.linker->linkRelocatable(objects));
  return withLocalSymbols(object, functionNames(made));
}

Result<std::string> library(const EmitSource& from) {
  SVOD_TRY(const Interface made, taggedInterface(from));
  SVOD_TRY(const std::string object, objectOfPlan(from, made));
  return staticLibrary(object, made.prefix + ".o");
}

Result<std::string> sharedLibrary(const EmitSource& from) {
  if (!cpuOf(from).hasElf())
    return fail(Diag::Unsupported, "WebAssembly has no shared libraries that programs link",
                "--emit static-lib=FILE makes a library of it");
  SVOD_TRY(const Interface made, taggedInterface(from));
  SVOD_TRY(const std::string object, objectOfPlan(from, made));
  return from.options.linker->linkLibrary(object, std::filesystem::path(from.path).filename().string());
}

Result<std::string> cmakeFragment(const EmitSource& from) {
  SVOD_TRY(const std::string target, prefixOf(from.compilation.plan, from.embed));
  return cmakeText(target, from.path, from.emissions);
}

Status planOf(const std::string& path, const EmitSource& from) {
  return writePlanDirectory(path, from.compilation.plan, from.compilation.files);
}

Status packOf(const std::string& path, const EmitSource& from) {
  return writePack(path, from.compilation.plan, from.compilation.files);
}

constexpr EmitKind kPlans[] = {
    {.name = "plan", .what = "the plan, as -o writes it", .write = planOf, .isPlan = true, .hasProcessors = true},
    {.name = "pack",
     .what = "the plan as one file, which is mapped and run in place",
     .write = packOf,
     .hasProcessors = true},
    {.name = "obj", .what = "one relocatable object with all kernels", .target = "cpu", .file = objectOfKernels},
};
constexpr EmitKind kPrograms[] = {
    {"c", "one file of C with the whole plan as a function", "c", "", nullptr, portableFile, ".c", nullptr, false,
     false, true},
    {"functions", "the kernels as one file of C, with their table for svod_plan_load_static", "c", "", nullptr,
     functionTable, ".functions.c"},
    {"static-lib", "a static library with the whole plan as a function", "cpu", "", nullptr, library, ".a", nullptr,
     false, true, true},
    {"shared-lib", "the same as a shared library", "cpu", "", nullptr, sharedLibrary, ".so", nullptr, false, true,
     true},
    {"header", "the header of that function", "", "", nullptr, header, ".h", nullptr, false, true, true},
    {"cmake", "a file for include(), which makes a target of the library", "", "", nullptr, cmakeFragment, ".cmake",
     nullptr, false, true},
};

/// For a target whose images pages run.
EmitKind kindForPages(const Target& target) {
  return {.name = "web",
          .what = "a folder with an ES module that runs the whole plan in pages, its types and its weights",
          .target = target.name,
          .write = writeWeb,
          .checkFolder = checkWebFolder,
          .fileNames = webFileNames};
}

}  // namespace

std::span<const EmitKind> emitKinds() {
  static const std::vector<EmitKind> kKinds = [] {
    std::vector<EmitKind> kinds(std::begin(kPlans), std::end(kPlans));
    for (const Target* target : targets())
      for (const TargetFiles& files : target->files)
        kinds.push_back({files.name, files.what, target->hasGrid() ? "" : target->name, files.extension, &files});
    kinds.insert(kinds.end(), std::begin(kPrograms), std::end(kPrograms));
    for (const Target* target : targets())
      if (target->isForPages) kinds.push_back(kindForPages(*target));
    return kinds;
  }();
  return kKinds;
}

}  // namespace svod
