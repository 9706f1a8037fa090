#include "toolchain/archive.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/Binary.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <deque>

namespace svod {

namespace {

tl::unexpected<Error> failed(const std::string& what, llvm::Error error) {
  return fail(Diag::CompileFailed, what + ": " + llvm::toString(std::move(error)));
}

Result<std::unique_ptr<llvm::object::Binary>> binaryOf(const std::string& object) {
  auto binary = llvm::object::createBinary(llvm::MemoryBufferRef(object, "object"));
  if (!binary) return failed("reading an object", binary.takeError());
  return std::move(*binary);
}

Result<std::string> written(llvm::object::Binary& binary, const llvm::objcopy::ConfigManager& config) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, binary, stream))
    return failed("writing an object", std::move(error));
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

Result<std::string> withLocalSymbols(const std::string& object, std::span<const std::string> seen) {
  SVOD_TRY(const std::unique_ptr<llvm::object::Binary> binary, binaryOf(object));
  llvm::objcopy::ConfigManager config;
  for (const std::string& name : seen) {
    auto pattern = llvm::objcopy::NameOrPattern::create(name, llvm::objcopy::MatchStyle::Literal,
                                                        [](llvm::Error error) { return error; });
    if (!pattern) return failed("a name of a symbol", pattern.takeError());
    if (llvm::Error error = config.Common.SymbolsToKeepGlobal.addMatcher(std::move(*pattern)))
      return failed("a name of a symbol", std::move(error));
  }
  return written(*binary, config);
}

Result<std::string> withSuffixedSymbols(const std::string& object, const std::string& suffix) {
  using llvm::object::SymbolRef;
  SVOD_TRY(const std::unique_ptr<llvm::object::Binary> binary, binaryOf(object));
  llvm::objcopy::ConfigManager config;
  std::deque<std::string> names;  // which the configuration borrows
  for (const SymbolRef& symbol : llvm::cast<llvm::object::ObjectFile>(*binary).symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags) return failed("the flags of a symbol", flags.takeError());
    if ((*flags & SymbolRef::SF_Undefined) != 0 || (*flags & SymbolRef::SF_Global) == 0) continue;
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name) return failed("the name of a symbol", name.takeError());
    config.Common.SymbolsToRename[*name] = names.emplace_back(name->str() + suffix);
  }
  return written(*binary, config);
}

Result<std::string> staticLibrary(const std::string& object, const std::string& member) {
  const llvm::NewArchiveMember entry(llvm::MemoryBufferRef(object, member));
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (llvm::Error error =
          llvm::writeArchiveToStream(stream, llvm::ArrayRef(&entry, 1), llvm::SymtabWritingMode::NormalSymtab,
                                     llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false))
    return failed("writing a static library", std::move(error));
  return bytes;
}

}  // namespace svod
