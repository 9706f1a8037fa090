#include "toolchain/bitcode.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

namespace svod {

namespace {

/// Without it an error would end the process.
struct LinkErrors final : llvm::DiagnosticHandler {
  explicit LinkErrors(std::string& text) : text_(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& diagnostic) override {
    llvm::raw_string_ostream stream(text_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    if (diagnostic.getSeverity() == llvm::DS_Error) diagnostic.print(printer);
    return true;
  }
  std::string& text_;
};

}  // namespace

Status addBitcode(llvm::Module& into, std::span<const std::string> modules, const CpuTarget& cpu) {
  std::string errors;
  into.getContext().setDiagnosticHandler(std::make_unique<LinkErrors>(errors));
  for (const std::string& bytes : modules) {
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "kernel"), into.getContext());
    if (!module) return fail(Diag::CompileFailed, "reading bitcode: " + llvm::toString(module.takeError()));
    SVOD_CHECK(setDataLayout(**module, cpu));
    if (llvm::Linker::linkModules(into, std::move(*module)))
      return fail(Diag::CompileFailed, "internal error: kernels cannot be joined: " + errors);
  }
  into.getContext().setDiagnosticHandler(nullptr);
  return {};
}

Result<std::string> objectOfBitcode(std::span<const std::string> modules, const CpuTarget& cpu, OptLevel level) {
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  SVOD_CHECK(setDataLayout(module, cpu));
  SVOD_CHECK(addBitcode(module, modules, cpu));
  return emitObject(module, cpu, level);
}

}  // namespace svod
