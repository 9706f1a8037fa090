#include "toolchain/object.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "toolchain/code_features.h"
#include "toolchain/expand_divisions.h"
#include "toolchain/lane_masks.h"

namespace svod {

namespace {

std::string featureText(const CpuTarget& cpu) {
  std::string text;
  for (const std::string& feature : codeFeatures(cpu)) text += (text.empty() ? "" : ",") + feature;
  return text;
}

Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const CpuTarget& cpu, OptLevel level) {
  registerCodeGenerators();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(cpu.triple, message);
  if (target == nullptr)
    return fail(Diag::CompileFailed, "LLVM has no code generator for '" + cpu.triple + "': " + message);
  llvm::TargetOptions options;
  options.UniqueSectionNames = false;
  options.MCOptions.ABIName = abiName(cpu.arch);
  const auto effort = level == OptLevel::O0 ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      cpu.triple, std::string(baselineName(cpu.arch)), featureText(cpu), options,
      cpu.hasElf() ? llvm::Reloc::PIC_ : llvm::Reloc::Static, llvm::CodeModel::Small, effort));
  if (machine == nullptr) return fail(Diag::CompileFailed, "LLVM cannot generate code for '" + cpu.triple + "'");
  return machine;
}

/// The machine of this thread, which is made again where the processor or the level is another one: making one takes as
/// long as the code of a small kernel. It holds nothing of the modules that it was used for.
Result<llvm::TargetMachine*> targetMachine(const CpuTarget& cpu, OptLevel level) {
  struct Made {
    std::string triple, features;
    OptLevel level = OptLevel::O0;
    std::unique_ptr<llvm::TargetMachine> machine;
  };
  thread_local Made last;
  std::string features = featureText(cpu);
  if (last.machine == nullptr || last.triple != cpu.triple || last.features != features || last.level != level) {
    SVOD_TRY(auto machine, makeTargetMachine(cpu, level));
    last = {cpu.triple, std::move(features), level, std::move(machine)};
  }
  return last.machine.get();
}

void setTarget(llvm::Module& module, const llvm::TargetMachine& machine, const CpuTarget& cpu) {
  module.setTargetTriple(cpu.triple);
  module.setDataLayout(machine.createDataLayout());
  if (const std::string_view abi = abiName(cpu.arch); !abi.empty() && module.getModuleFlag("target-abi") == nullptr)
    module.addModuleFlag(llvm::Module::Error, "target-abi", llvm::MDString::get(module.getContext(), abi));
  const std::string features = featureText(cpu), width = std::to_string(cpu.vectorBytes * 8);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", baselineName(cpu.arch));
    function.addFnAttr("tune-cpu", tuningName(cpu));
    function.addFnAttr("target-features", features);
    function.addFnAttr("prefer-vector-width", width);
  }
}

// Kernels link against nothing, so no call may be recognized as, or turned into, a library function.
llvm::TargetLibraryInfoImpl noLibrary(const llvm::Module& module) {
  llvm::TargetLibraryInfoImpl library{llvm::Triple(module.getTargetTriple())};
  library.disableAllFunctions();
  return library;
}

// Registers for accumulators (sroa), shared subexpressions, invariant code out of loops. Vectorizing,
// unrolling and interleaving are decisions of the schedule and stay out. Strength reduction of addresses runs
// in the back end.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, const CpuTarget& cpu, OptLevel level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(noLibrary(module)); });
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/level != OptLevel::O0));
  if (level != OptLevel::O0) {
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
  }
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, functions);
  expandDivisions(module, cpu);
  if (level != OptLevel::O0) widenMasks(module, cpu);
}

struct Messages final : llvm::DiagnosticHandler {
  explicit Messages(std::string& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& diagnostic) override {
    if (diagnostic.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(errors_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      diagnostic.print(printer);
    }
    return true;
  }
  std::string& errors_;
};

}  // namespace

Status setDataLayout(llvm::Module& module, const CpuTarget& cpu) {
  SVOD_TRY(const auto machine, targetMachine(cpu, OptLevel::O1));
  module.setTargetTriple(cpu.triple);
  module.setDataLayout(machine->createDataLayout());
  return {};
}

Result<std::string> emitObject(llvm::Module& module, const CpuTarget& cpu, OptLevel level, CodeKind kind) {
  SVOD_TRY(const auto machine, targetMachine(cpu, level));
  setTarget(module, *machine, cpu);

  std::string problems;
  llvm::raw_string_ostream problemStream(problems);
  if (llvm::verifyModule(module, &problemStream))
    return fail(Diag::CompileFailed,
                "internal error: malformed LLVM module '" + module.getName().str() + "': " + problems);

  std::string errors;
  module.getContext().setDiagnosticHandler(std::make_unique<Messages>(errors));
  optimize(module, *machine, cpu, level);

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager backend;
  backend.add(new llvm::TargetLibraryInfoWrapperPass(noLibrary(module)));
  const auto fileType =
      kind == CodeKind::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine->addPassesToEmitFile(backend, stream, nullptr, fileType))
    return fail(Diag::CompileFailed, "LLVM cannot write this kind of file for '" + cpu.triple + "'");
  backend.run(module);
  module.getContext().setDiagnosticHandler(nullptr);
  if (!errors.empty())
    return fail(Diag::CompileFailed, "code generation of '" + module.getName().str() + "': " + errors);
  return std::string(bytes.begin(), bytes.end());
}

std::string irText(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return stream.str();
}

std::string irBitcode(const llvm::Module& module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return stream.str();
}

}  // namespace svod
