// What a program writes where: results to stdout, errors and progress to stderr.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "support/result.h"

namespace svod {

struct ConsoleOptions {
  bool noColor = false;
  bool jsonDiagnostics = false;
  bool dataOnStdout = false;  // stdout carries an array: text for people goes to stderr
  bool quiet = false;         // notes, warnings and progress go nowhere
  /// Where set, nothing is written: they get results, and messages with the word for their severity.
  std::function<void(std::string_view text)> onResult = {};
  std::function<void(const Error& error, std::string_view severity)> onMessage = {};

  bool isSilent() const { return onResult || onMessage; }
};

class Console {
 public:
  explicit Console(const ConsoleOptions& options);

  /// Results. Errors: Io, when stdout takes no more.
  Status print(std::string_view text);
  /// Whether results may be colored, and the columns they have; 0 when stdout is no terminal.
  bool colorOutput() const { return colorOutput_; }
  int outputWidth() const { return outputWidth_; }

  void report(const Error& error);
  /// What report() writes.
  std::string textOf(const Error& error) const;
  /// Something that changes no result and no exit code.
  void warn(const Error& error);
  /// A choice that was made where the user left it open, and how to choose otherwise.
  void note(const Error& error);
  /// Reports the error and gives its exit code.
  int finish(const Error& error);
  /// The columns of a line of progress, as the window is now.
  size_t progressWidth() const;
  /// Overwrites one line on stderr, cut to its columns; nothing when that is no terminal. `clearProgress` removes it.
  void progress(size_t done, size_t total);
  void progress(std::string_view text);
  void clearProgress();
  /// A line on stderr for programs that follow the work.
  void event(std::string_view json);

 private:
  void show(const Error& error, std::string_view severity);

  ConsoleOptions options_;
  bool progressWanted_, colorErrors_, colorOutput_;
  std::atomic<bool> progressShown_ = false;  // an interrupt is reported by another thread
  int outputWidth_;
};

}  // namespace svod
