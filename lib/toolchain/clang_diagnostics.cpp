#include "toolchain/clang_diagnostics.h"

#include <clang/Basic/SourceManager.h>

#include "support/source_text.h"

namespace svod {

namespace {

constexpr size_t kMostNotes = 10;

std::string textOf(const clang::Diagnostic& diagnostic) {
  llvm::SmallString<128> text;
  diagnostic.FormatDiagnostic(text);
  return std::string(text);
}

std::string placeText(const SourceLoc& place) {
  if (place.file.empty()) return {};
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
}

}  // namespace

SourceLoc placeOf(const clang::SourceManager& sources, clang::SourceLocation location) {
  const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(location));
  if (place.isInvalid()) return {};
  const std::optional<llvm::StringRef> text = sources.getBufferDataOrNone(place.getFileID());
  return SourceText(text ? text->str() : std::string())
      .at(place.getFilename(), static_cast<int>(place.getLine()), static_cast<int>(place.getColumn()));
}

void ClangErrors::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) {
  const bool isError = level >= clang::DiagnosticsEngine::Error;
  if (!first_ && !isError) return;
  SourceLoc place;
  if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid())
    place = placeOf(diagnostic.getSourceManager(), diagnostic.getLocation());
  const std::string text = textOf(diagnostic);
  if (!first_)
    first_ = Error(Diag::CompileFailed, text, {}, std::move(place));
  else if ((*first_)->notes.size() < kMostNotes && (isError || level == clang::DiagnosticsEngine::Note))
    (*first_)->notes.push_back(placeText(place) + (isError ? "error: " : "") + text);
}

}  // namespace svod
