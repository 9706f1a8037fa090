#include "emit.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "data/atomic_write.h"
#include "data/distinct.h"
#include "depfile.h"
#include "embed/c_file.h"
#include "embed/function_table.h"
#include "embed/llvm_driver.h"
#include "plan/contents.h"
#include "plan/pack.h"
#include "support/suggest.h"
#include "target/c/print_c.h"
#include "toolchain/archive.h"
#include "toolchain/bitcode.h"
#include "toolchain/clang.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Those that a processor runs: the code of the others is text or images of their devices.
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

std::vector<std::string> objectsOf(const Compilation& c) {
  std::vector<std::string> objects;
  for (const CompiledKernel* k : processorKernels(c)) objects.push_back(k->object);
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
  for (const CompiledKernel* k : processorKernels(c)) modules.push_back(k->bitcode);
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
  SVOD_TRY(const Interface made, interfaceOf(from.compilation.plan, from.embed));
  return headerText(from.compilation.plan, made);
}

std::vector<std::span<const std::byte>> weightsOf(const Compilation& c) {
  for (const PlanFile& file : c.files)
    if (file.kind == FileKind::Weights) return file.chunks;
  return {};
}

/// What a file of C is made of.
Result<EmbedParts> partsOf(const EmitSource& from, const std::string& kind) {
  if (!from.compilation.functions.empty())
    return fail(Diag::Unsupported, "--emit " + kind + " does not hold functions of C files",
                "leave --emit " + kind + " out");
  EmbedParts parts{{}, freestandingHead, weightsOf(from.compilation)};
  for (const CompiledKernel& k : from.compilation.kernels) parts.kernels.push_back(k.object);
  return parts;
}

Result<std::string> portableFile(const EmitSource& from) {
  SVOD_TRY(const EmbedParts parts, partsOf(from, "c"));
  SVOD_TRY(const Interface made, interfaceOf(from.compilation.plan, from.embed));
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
  SVOD_TRY(const Interface made, interfaceOf(from.compilation.plan, from.embed));
  SVOD_TRY(const std::string object, objectOfPlan(from, made));
  return staticLibrary(object, made.prefix + ".o");
}

Status packOf(const std::string& path, const EmitSource& from) {
  return writePack(path, from.compilation.plan, from.compilation.files);
}

constexpr EmitKind kKinds[] = {
    {"pack", "the plan as one file, which is mapped and run in place", "", "", nullptr, nullptr, "", packOf},
    {"obj", "one relocatable object with all kernels", "cpu", "", nullptr, objectOfKernels},
    {"obj-dir", "a folder with a relocatable object for each kernel", "cpu", ".o", &CompiledKernel::object},
    {"asm", "a folder with the assembly text of each kernel", "cpu", ".s", &CompiledKernel::assembly},
    {"llvm-ir", "a folder with the LLVM IR of each kernel, as it is before LLVM's passes", "cpu", ".ll",
     &CompiledKernel::source},
    {"llvm-bc", "a folder with the same as bitcode", "cpu", ".bc", &CompiledKernel::bitcode},
    {"c", "one file of C with the whole plan as a function", "c", "", nullptr, portableFile, ".c"},
    {"functions", "the kernels as one file of C, with their table for svod_plan_load_static", "c", "", nullptr,
     functionTable, ".functions.c"},
    {"static-lib", "a static library with the whole plan as a function", "cpu", "", nullptr, library, ".a"},
    {"header", "the header of that function", "", "", nullptr, header, ".h"},
};

Result<const EmitKind*> kindOf(std::string_view name) {
  std::vector<std::string_view> names;
  for (const EmitKind& kind : kKinds) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  return fail(Diag::Usage, "--emit knows no kind '" + std::string(name) + "'", choicesFor(name, names));
}

/// A folder that was written before, or an empty one.
bool holdsOnly(const std::string& folder, std::string_view extension) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (!entry->is_regular_file(error) || entry->path().extension() != extension) return false;
  return !error;
}

Status checkPlace(const Emission& e, const Flags& flags) {
  if (isInPlan(e.path, flags))
    return fail(Diag::Usage, "'" + e.path + "' of --emit would be a part of the plan", "put it beside the plan");
  std::error_code ignored;
  if (e.kind->isFolder() && fs::exists(e.path, ignored) &&
      !(fs::is_directory(e.path, ignored) && holdsOnly(e.path, e.kind->extension)))
    return fail(
        Diag::Io,
        "cannot write '" + e.path + "': it is no folder, or holds other files than *" + std::string(e.kind->extension),
        "choose another name, or remove it first");
  return checkFolderOf(e.path);
}

Status checkPlaces(const Request& request, std::span<const Emission> emissions) {
  std::vector<ResultFile> files = {{"the graph", request.files.at(0)},
                                   {"--output", request.flags.output},
                                   {"--depfile", depfilePath(request.flags)}};
  for (const Emission& e : emissions) files.push_back({"--emit " + std::string(e.kind->name), e.path});
  SVOD_CHECK(checkDistinct(files));
  for (const Emission& e : emissions) SVOD_CHECK(checkPlace(e, request.flags));
  return {};
}

/// The files of a folder: one for each kernel and, of objects, one for each file of C, by its name. Where that is taken
/// a number makes it another one.
std::vector<FileContent> filesOfFolder(const Emission& e, const Compilation& c) {
  std::vector<FileContent> files;
  std::set<std::string> taken;
  const auto add = [&](const std::string& name, const std::string& content) {
    std::string own = name;
    for (int number = 2; !taken.insert(own).second; number++) own = name + "-" + std::to_string(number);
    files.push_back({own + std::string(e.kind->extension), {bytesOf(content)}});
  };
  for (const CompiledKernel* k : processorKernels(c)) add(k->desc.symbol, k->*e.kind->text);
  if (e.kind->text == &CompiledKernel::object)
    for (const FunctionObject& f : c.functionObjects) add(fs::path(f.file).stem().string(), f.object);
  return files;
}

Status writeFolder(const Emission& e, const Compilation& c) {
  SVOD_CHECK(checkHasKernels(c, e.kind->name));
  const std::vector<FileContent> files = filesOfFolder(e, c);
  return writeDirectoryAtomic(e.path, files,
                              [&](const std::string& folder) { return holdsOnly(folder, e.kind->extension); });
}

Status writeOne(const Emission& e, const EmitSource& from) {
  if (e.kind->write != nullptr) return e.kind->write(e.path, from);
  SVOD_TRY(const std::string text, e.kind->file(from));
  const std::span<const std::byte> chunk = bytesOf(text);
  return holdsChunks(e.path, std::span(&chunk, 1)) ? Status() : writeFileAtomic(e.path, text);
}

}  // namespace

Result<std::vector<Emission>> emissionsOf(const Request& request) {
  const Flags& flags = request.flags;
  std::vector<Emission> emissions;
  std::string base = flags.output;
  while (base.size() > 1 && base.back() == '/') base.pop_back();
  for (const std::string& text : flags.emit) {
    const size_t equals = text.find('=');
    SVOD_TRY(const EmitKind* kind, kindOf(std::string_view(text).substr(0, equals)));
    const std::string ending = kind->ending.empty() ? "." + std::string(kind->name) : std::string(kind->ending);
    const std::string path = equals != text.npos ? text.substr(equals + 1) : base.empty() ? "" : base + ending;
    if (path.empty() || path == "-")
      return fail(Diag::Usage, "--emit " + std::string(kind->name) + " needs a path",
                  "--emit " + std::string(kind->name) + "=PATH");
    emissions.push_back({kind, path});
  }
  for (const Emission& e : emissions)
    if (!e.kind->target.empty() && e.kind->target != flags.target)
      return fail(Diag::Usage,
                  "--emit " + std::string(e.kind->name) + " is for --target " + std::string(e.kind->target) + ", not " +
                      flags.target,
                  "a plan is for one target: compile once more for the other one");
  SVOD_CHECK(checkPlaces(request, emissions));
  return emissions;
}

bool needsForms(const Flags& flags) {
  return std::ranges::any_of(flags.emit, [](const std::string& text) {
    const Result<const EmitKind*> kind = kindOf(std::string_view(text).substr(0, text.find('=')));
    return kind && (*kind)->needsForms();
  });
}

Result<EmbedOptions> embedOptions(const Flags& flags) {
  EmbedOptions options;
  options.prefix = flags.prefix;
  SVOD_TRY(options.weights, weightsPlace(flags.weights));
  return options;
}

Status writeEmissions(std::span<const Emission> emissions, const EmitSource& source) {
  for (const Emission& e : emissions)
    SVOD_CHECK(e.kind->isFolder() ? writeFolder(e, source.compilation) : writeOne(e, source));
  return {};
}

std::vector<std::string> filesOf(const Emission& e, const Compilation& c) {
  if (!e.kind->isFolder()) return {e.path};
  std::vector<std::string> files;
  for (const FileContent& file : filesOfFolder(e, c)) files.push_back(e.path + "/" + file.name);
  return files;
}

}  // namespace svod
