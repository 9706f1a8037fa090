#include "target/c/target.h"

#include <algorithm>

#include "data/mapped_file.h"
#include "target/c/print_c.h"
#include "toolchain/c_compiler.h"
#include "toolchain/clang.h"
#include "toolchain/linker.h"
#include "toolchain/temp_dir.h"

namespace svod::c {

namespace {

const CpuTarget& cpuOf(const Machine& machine) { return std::get<CpuTarget>(machine); }

constexpr std::string_view kCompiler = "cc", kNoCompiler = "none";
constexpr TargetFlag kFlags[] = {{kCompiler}};

/// Who makes kernels.so of the text.
struct Tools final : TargetTools {
  bool isSourceOnly = false;  // nobody
  Tool compiler;              // a program, where one is named; else the compiler in this process
  std::string tempDirectory;

  bool isInProcess() const { return !isSourceOnly && compiler.program.empty(); }
  std::string id() const override { return isInProcess() ? "C in process" : ""; }
  Status takesFunctions() const override {
    if (isInProcess()) return {};
    return fail(Diag::Unsupported, "functions of C files are compiled in process",
                "leave --cc out, or use --target cpu");
  }
};

const Tools& toolsOf(const TargetTools* tools) {
  static const Tools kUsual;
  return tools == nullptr ? kUsual : static_cast<const Tools&>(*tools);
}

/// Whether kernels become a library that runtimes load.
bool linksLibraries(const CpuTarget& cpu) { return cpu.hasElf() && archOfTriple(cpu.triple); }

Result<std::shared_ptr<const TargetTools>> open(const ToolRequest& request) {
  auto tools = std::make_shared<Tools>();
  const auto given = request.flags.find(kCompiler);
  const std::string program = given == request.flags.end() ? "" : given->second;
  const bool isNamed = !program.empty() && program != kNoCompiler;
  if (request.isReproducible && isNamed)
    return fail(Diag::Usage, "--reproducible, and what --cc builds depends on the compiler of this machine",
                "leave --cc out: svodc has a compiler; or take --cc none");
  if (!program.empty() && request.machines.size() > 1)
    return fail(Diag::Usage,
                "what --cc builds is for one processor, and --cpu names " + std::to_string(request.machines.size()),
                "leave --cc out: the compiler in svodc knows the processors");
  tools->isSourceOnly = program == kNoCompiler || (program.empty() && !request.machines.empty() &&
                                                   !linksLibraries(cpuOf(request.machines.front())));
  if (isNamed) tools->compiler = {program, request.environment};
  tools->tempDirectory = request.tempDirectory;
  return tools;
}

Result<Machine> machine(std::string_view triple, std::string_view processor) {
  const bool isOther = !triple.empty() && processor.empty() && !archOfTriple(triple);
  SVOD_TRY(CpuTarget found, makeCpuTarget(isOther ? tripleOf(Arch::AArch64) : triple, processor));
  if (isOther) found.triple = triple;  // of which nothing is known
  return Machine(std::move(found));
}

Caps caps(const Machine& machine, Numerics numerics) {
  Caps caps = capsOf(cpuOf(machine), numerics);
  caps.bf16Dots = false;
  caps.tiles.clear();
  return caps;
}

LegalizeOptions legal(const Machine&, Numerics numerics) { return {.numerics = numerics, .fma = false}; }

Result<KernelCode> emit(const EmitJob& job) {
  KernelCode made;
  SVOD_TRY(made.code, printFunction(job.linear));
  if (job.keepSource) made.source = joinFunctions({&made.code, 1});
  if (!toolsOf(job.tools).isInProcess()) return made;
  const OptLevel level = job.optLevel == 0 ? OptLevel::O0 : OptLevel::O1;
  const CFile file{job.linear.name + ".c", joinFunctions({&made.code, 1})};
  SVOD_TRY(made.object, compileC(file, cpuOf(job.machine), level));
  return made;
}

Result<std::string> buildLibrary(const std::string& source, const Tools& tools) {
  SVOD_TRY(TempDir dir, TempDir::make(tools.tempDirectory));
  SVOD_CHECK(writeWholeFile(dir.file("kernels.c"), source));
  SVOD_CHECK(compileShared(tools.compiler, dir.file("kernels.c"), dir.file("kernels.so")));
  return readWholeFile(dir.file("kernels.so"));
}

Result<std::string> linkObjects(const JoinJob& job) {
  SVOD_TRY(std::vector<std::string> objects, compileArithmetic(cpuOf(job.machine)));
  for (const JoinJob::Part& kernel : job.kernels) objects.push_back(kernel.code.object);
  for (const FunctionObject& f : job.functions) objects.push_back(f.object);
  if (job.functions.empty()) {
    SVOD_TRY(std::string memory, compileMemoryFunctions(cpuOf(job.machine)));
    objects.push_back(std::move(memory));
  }
  return job.linker->linkShared(objects);
}

Result<std::vector<JoinedFile>> join(const JoinJob& job) {
  std::vector<JoinedFile> files;
  if (job.isEmpty()) return files;
  std::vector<std::string> functions;
  for (const JoinJob::Part& kernel : job.kernels) functions.push_back(kernel.code.code);
  std::string source = joinFunctions(functions);
  const Tools& tools = toolsOf(job.tools);
  if (!tools.isSourceOnly) {
    SVOD_TRY(std::string library, tools.isInProcess() ? linkObjects(job) : buildLibrary(source, tools));
    files.push_back({"kernels.so", FileKind::Code, std::move(library)});
  }
  files.push_back({"kernels.c", FileKind::Source, std::move(source)});
  return files;
}

Result<std::string> print(const LinearKernel& kernel, std::string_view, std::string_view) {
  return printC({&kernel, 1});
}

}  // namespace

constexpr Target kTarget{.name = "c",
                         .what = "portable C11 source, kernels.c, and its kernels.so unless --cc is none",
                         .deviceKind = DeviceKind::Cpu,
                         .machine = machine,
                         .caps = caps,
                         .legal = legal,
                         .emit = emit,
                         .join = join,
                         .open = open,
                         .flags = kFlags,
                         .withoutBuild = {kCompiler, kNoCompiler},
                         .textForm = "c",
                         .print = print};

}  // namespace svod::c
