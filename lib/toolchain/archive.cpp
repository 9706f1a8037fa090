#include "toolchain/archive.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/Binary.h>
#include <llvm/Support/MemoryBuffer.h>

namespace svod {

namespace {

tl::unexpected<Error> failed(const std::string& what, llvm::Error error) {
  return fail(Diag::CompileFailed, what + ": " + llvm::toString(std::move(error)));
}

}  // namespace

Result<std::string> withLocalSymbols(const std::string& object, std::span<const std::string> seen) {
  auto binary = llvm::object::createBinary(llvm::MemoryBufferRef(object, "object"));
  if (!binary) return failed("reading an object", binary.takeError());
  llvm::objcopy::ConfigManager config;
  for (const std::string& name : seen) {
    auto pattern = llvm::objcopy::NameOrPattern::create(name, llvm::objcopy::MatchStyle::Literal,
                                                        [](llvm::Error error) { return error; });
    if (!pattern) return failed("a name of a symbol", pattern.takeError());
    if (llvm::Error error = config.Common.SymbolsToKeepGlobal.addMatcher(std::move(*pattern)))
      return failed("a name of a symbol", std::move(error));
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **binary, stream))
    return failed("writing an object", std::move(error));
  return std::string(bytes.begin(), bytes.end());
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
