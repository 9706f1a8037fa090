// What svodc writes where: results to stdout, errors and progress to stderr.
#pragma once
#include <string>
#include <string_view>

#include "report/render.h"
#include "support/result.h"

namespace svod {

class Console {
 public:
  Console(bool noColor, bool jsonDiagnostics);

  /// Results. Errors: Io, when stdout takes no more.
  Status print(std::string_view text);
  /// The style of tables on stdout: no escapes and no cutting unless it is a terminal.
  const TextStyle& style() const { return style_; }

  void report(const Error& error);
  /// Overwrites one line on stderr; nothing when that is no terminal. `clearProgress` removes it.
  void progress(size_t done, size_t total);
  void clearProgress();

 private:
  bool jsonDiagnostics_, progressWanted_, colorErrors_;
  bool progressShown_ = false;
  TextStyle style_;
};

}  // namespace svod
