#include "console/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support/error_text.h"
#include "support/text.h"

namespace svod {

namespace {

/// Of a terminal; 0 where it does not say.
int columnsOf(int file) {
  winsize size{};
  return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int outputColumns() {
  const int columns = columnsOf(STDOUT_FILENO);
  return columns >= 40 ? columns : 100;
}

constexpr std::string_view kError = "error", kWarning = "warning", kNote = "note";

std::string_view colorOf(std::string_view severity) {
  return severity == kError ? "\x1b[1;31m" : severity == kWarning ? "\x1b[1;33m" : "\x1b[1;36m";
}

std::string jsonText(const Error& error, std::string_view severity) {
  nlohmann::ordered_json json = {{"code", info(error->diag).code}, {"message", error->message}};
  if (severity != kError) json["severity"] = severity;
  if (!error->loc.file.empty()) json["file"] = error->loc.file;
  if (error->loc.line > 0) json["line"] = error->loc.line;
  if (error->loc.column > 0) json["column"] = error->loc.column;
  if (!error->loc.before.empty() || !error->loc.behind.empty())
    json["before"] = error->loc.before, json["behind"] = error->loc.behind;
  json["notes"] = error->notes;
  if (!error->help.empty()) json["help"] = error->help;
  if (severity == kError) json["exitCode"] = info(error->diag).exitCode;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string plainText(const Error& error, std::string_view severity, bool color) {
  const std::string word = std::string(severity) + ":", code(colorOf(severity));
  return toText(error, color ? code + word + "\x1b[0m" : word);
}

}  // namespace

Console::Console(const ConsoleOptions& options)
    : options_(options),
      progressWanted_(isatty(STDERR_FILENO) == 1 && !options.jsonDiagnostics && !options.quiet && !options.isSilent()),
      colorErrors_(isatty(STDERR_FILENO) == 1 && !options.noColor && !options.jsonDiagnostics),
      colorOutput_(isatty(STDOUT_FILENO) == 1 && !options.noColor && !options.isSilent()),
      outputWidth_(isatty(STDOUT_FILENO) == 1 && !options.isSilent() ? outputColumns() : 0) {}

Status Console::print(std::string_view text) {
  if (options_.isSilent()) {
    if (options_.onResult) options_.onResult(text);
    return {};
  }
  clearProgress();
  errno = 0;
  FILE* const stream = options_.dataOnStdout ? stderr : stdout;
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0) return {};
  return fail(Diag::Io, std::string("cannot write to stdout: ") + std::strerror(errno), "check where the output goes");
}

void Console::report(const Error& error) { show(error, kError); }
void Console::warn(const Error& error) { show(error, kWarning); }
void Console::note(const Error& error) { show(error, kNote); }

void Console::show(const Error& error, std::string_view severity) {
  if (options_.quiet && severity != kError) return;
  if (options_.isSilent()) {
    if (options_.onMessage) options_.onMessage(error, severity);
    return;
  }
  clearProgress();
  std::string text = options_.jsonDiagnostics ? jsonText(error, severity) : plainText(error, severity, colorErrors_);
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string Console::textOf(const Error& error) const {
  return (options_.jsonDiagnostics ? jsonText(error, kError) : plainText(error, kError, colorErrors_)) + "\n";
}

int Console::finish(const Error& error) {
  report(error);
  return info(error->diag).exitCode;
}

void Console::progress(size_t done, size_t total) {
  progress("kernel " + std::to_string(done) + " of " + std::to_string(total));
}

size_t Console::progressWidth() const {
  constexpr int kUsual = 80, kLeast = 8;
  const int columns = columnsOf(STDERR_FILENO);
  return static_cast<size_t>(std::max(columns > 0 ? columns : kUsual, kLeast)) - 1;  // the last one may begin a line
}

void Console::progress(std::string_view text) {
  if (!progressWanted_) return;
  progressShown_ = true;
  constexpr size_t kDots = 2;
  const size_t width = progressWidth();
  const std::string line = text.size() <= width ? std::string(text) : shortened(std::string(text), width - kDots);
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
}

void Console::event(std::string_view json) {
  const std::string line = std::string(json) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Console::clearProgress() {
  if (!progressShown_.exchange(false)) return;
  std::fputs("\r\x1b[K", stderr);
}

}  // namespace svod
