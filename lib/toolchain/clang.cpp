#include "toolchain/clang.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MemoryBuffer.h>

#include "toolchain/clang_diagnostics.h"
#include "toolchain/code_features.h"
#include "toolchain/embedded_headers.h"
#include "toolchain/folder_files.h"

namespace svod {

namespace {

constexpr const char* kHeaders = "/svod/include";

/// The file and the headers of svod, over those of its folders.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> filesOf(const CFile& file, std::set<std::string>& refused) {
  auto own = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const EmbeddedHeader& header : embeddedHeaders())
    own->addFile(std::string(kHeaders) + "/" + std::string(header.name), 0,
                 llvm::MemoryBuffer::getMemBuffer(header.text, header.name));
  if (file.folders.empty()) {
    own->setCurrentWorkingDirectory("/");
    return own;
  }
  auto all = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(folderFiles(file.folders, refused));
  all->pushOverlay(own);
  return all;
}

std::vector<std::string> wordsOf(const CFile& file, const CpuTarget& cpu, OptLevel level) {
  std::vector<std::string> words = {"-triple",   cpu.triple,     "-target-cpu", std::string(baselineName(cpu.arch)),
                                    "-tune-cpu", tuningName(cpu)};
  for (const std::string& feature : codeFeatures(cpu)) words.insert(words.end(), {"-target-feature", feature});
  words.insert(words.end(), {"-emit-obj", "-std=c11", "-ffreestanding", "-nostdsysteminc", "-nobuiltininc",
                             "-internal-isystem", kHeaders, "-ffp-contract=off", "-mrelocation-model", "pic",
                             "-pic-level", "2", "-mframe-pointer=none", "-ffunction-sections"});
  if (const std::string_view abi = abiName(cpu.arch); !abi.empty())
    words.insert(words.end(), {"-target-abi", std::string(abi)});
  if (cpu.arch == Arch::Arm) words.insert(words.end(), {"-mfloat-abi", "hard"});
  words.push_back("-mprefer-vector-width=" + std::to_string(cpu.vectorBytes * 8));
  // __FILE__ is the same wherever the file lies.
  if (const size_t slash = file.name.rfind('/'); slash != file.name.npos)
    words.push_back("-fmacro-prefix-map=" + file.name.substr(0, slash + 1) + "=");
  // What assembly and pragmas of a stranger name, the assembler and the linker would read.
  if (!file.folders.empty()) words.insert(words.end(), {"-fno-gnu-inline-asm", "-fno-autolink"});
  if (file.hidesNames) words.push_back("-fvisibility=hidden");
  if (level == OptLevel::O0)
    words.push_back("-O0");
  else
    words.insert(words.end(), {"-O2", "-vectorize-loops", "-vectorize-slp"});
  words.insert(words.end(), {"-x", "c", file.name});
  return words;
}

/// Names a file that it asked for and did not get, though it is there.
Error withRefused(Error error, const std::set<std::string>& refused) {
  return std::move(error)
      .withNote("'" + *refused.begin() + "' is not read")
      .withHelp("what C includes are regular files in the folder of the graph or below it");
}

/// Runs `action` over one file.
Status withClang(const CFile& file, const CpuTarget& cpu, OptLevel level, clang::FrontendAction& action,
                 std::unique_ptr<llvm::raw_pwrite_stream> output) {
  registerCodeGenerators();
  ClangErrors errors;
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&errors, /*ShouldOwnClient=*/false);
  const std::vector<std::string> words = wordsOf(file, cpu, level);
  std::vector<const char*> args;
  for (const std::string& word : words) args.push_back(word.c_str());
  const bool isKnown =
      clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), args, compiler.getDiagnostics());
  compiler.getCodeGenOpts().EmitVersionIdentMetadata = false;
  compiler.getFrontendOpts().DisableFree = false;
  compiler.getPreprocessorOpts().addRemappedFile(file.name,
                                                 llvm::MemoryBuffer::getMemBufferCopy(file.text, file.name).release());
  std::set<std::string> refused;
  compiler.createFileManager(filesOf(file, refused));
  if (output) compiler.setOutputStream(std::move(output));
  const bool done = isKnown && compiler.ExecuteAction(action);
  if (errors.first()) return fail(refused.empty() ? *errors.first() : withRefused(*errors.first(), refused));
  if (!done) return fail(Diag::CompileFailed, "Clang cannot compile '" + file.name + "'");
  return {};
}

CType typeOf(clang::QualType type, const clang::ASTContext& context) {
  CType made;
  made.text = type.getAsString(context.getPrintingPolicy());
  if (type->isPointerType()) {
    made.isPointer = true;
    type = type->getPointeeType();
    made.isConst = type.isConstQualified();
  }
  type = type.getCanonicalType();
  using Kind = CType::Kind;
  made.kind = type->isVoidType()              ? Kind::Void
              : type->isBooleanType()         ? Kind::Bool
              : type->isUnsignedIntegerType() ? Kind::Unsigned
              : type->isSignedIntegerType()   ? Kind::Signed
              : type->isRealFloatingType()    ? Kind::Float
                                              : Kind::Other;
  if (made.kind != Kind::Void && made.kind != Kind::Other) made.bits = static_cast<int>(context.getTypeSize(type));
  return made;
}

/// Looks for one function when the file has been read.
class Search final : public clang::ASTConsumer {
 public:
  Search(const std::string& name, std::optional<CFunction>& found) : name_(name), found_(found) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    for (const clang::Decl* each : context.getTranslationUnitDecl()->decls()) {
      const auto* function = llvm::dyn_cast<clang::FunctionDecl>(each);
      if (function == nullptr || function->getName() != name_) continue;
      if (found_ && !function->isThisDeclarationADefinition()) continue;
      found_.emplace();
      found_->result = typeOf(function->getReturnType(), context);
      for (const clang::ParmVarDecl* p : function->parameters())
        found_->parameters.push_back(typeOf(p->getType(), context));
      found_->place = placeOf(context.getSourceManager(), function->getLocation());
      found_->isDefined = function->isThisDeclarationADefinition();
      found_->isStatic = !function->isExternallyVisible();
    }
  }

 private:
  const std::string& name_;
  std::optional<CFunction>& found_;
};

class SearchAction final : public clang::ASTFrontendAction {
 public:
  SearchAction(const std::string& name, std::optional<CFunction>& found, std::set<std::string>* filesRead)
      : name_(name), found_(found), filesRead_(filesRead) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Search>(name_, found_);
  }
  void EndSourceFileAction() override {
    if (filesRead_ == nullptr) return;
    clang::SourceManager& sources = getCompilerInstance().getSourceManager();
    for (auto at = sources.fileinfo_begin(); at != sources.fileinfo_end(); ++at)
      if (std::string name = at->first.getName().str(); !name.starts_with(kHeaders))
        filesRead_->insert(name.starts_with("./") ? name.substr(2) : name);
  }

 private:
  const std::string& name_;
  std::optional<CFunction>& found_;
  std::set<std::string>* filesRead_;
};

}  // namespace

Result<std::string> compileC(const CFile& file, const CpuTarget& cpu, OptLevel level) {
  clang::EmitObjAction action;
  llvm::SmallVector<char, 0> bytes;
  SVOD_CHECK(withClang(file, cpu, level, action, std::make_unique<llvm::raw_svector_ostream>(bytes)));
  return std::string(bytes.begin(), bytes.end());
}

namespace {

Result<std::string> compileHeader(std::string_view name, const CpuTarget& cpu) {
  CFile file{std::string(name), {}};
  for (const EmbeddedHeader& header : embeddedHeaders())
    if (header.name == name) file.text = header.text;
  return compileC(file, cpu, OptLevel::O1);
}

}  // namespace

Result<std::string> compileMemoryFunctions(const CpuTarget& cpu) {
  SVOD_TRY(const CpuTarget any, makeCpuTarget(cpu.triple, ""));
  return compileHeader("memory.h", any);
}

Result<std::vector<std::string>> compileArithmetic(const CpuTarget& cpu) {
  std::vector<std::string> objects;
  if (cpu.arch != Arch::Arm) return objects;
  SVOD_TRY(std::string object, compileHeader("int64.h", cpu));
  objects.push_back(std::move(object));
  return objects;
}

Result<std::optional<CFunction>> findFunction(const CFile& file, const std::string& function, const CpuTarget& cpu,
                                              std::set<std::string>* filesRead) {
  std::optional<CFunction> found;
  SearchAction action(function, found, filesRead);
  SVOD_CHECK(withClang(file, cpu, OptLevel::O0, action, nullptr));
  return found;
}

}  // namespace svod
