// What Clang says of a file, as an error.
#pragma once
#include <clang/Basic/Diagnostic.h>

#include <optional>

#include "support/result.h"

namespace clang {
class SourceManager;
}

namespace svod {

/// A place in a file, with its line.
SourceLoc placeOf(const clang::SourceManager& sources, clang::SourceLocation location);

/// Keeps the first error, and what comes after it as notes.
class ClangErrors final : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) override;
  const std::optional<Error>& first() const { return first_; }

 private:
  std::optional<Error> first_;
};

}  // namespace svod
