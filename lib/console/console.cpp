#include "console/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace svod {

namespace {

int terminalWidth() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 120;
}

std::string jsonText(const Error& error) {
  nlohmann::ordered_json json = {{"code", info(error.diag).code}, {"message", error.message}};
  if (!error.loc.file.empty()) json["file"] = error.loc.file;
  if (error.loc.line > 0) json["line"] = error.loc.line;
  if (error.loc.column > 0) json["column"] = error.loc.column;
  json["notes"] = error.notes;
  if (!error.help.empty()) json["help"] = error.help;
  json["exitCode"] = info(error.diag).exitCode;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string colored(std::string text) {
  constexpr std::string_view kWord = "error:";
  const size_t at = text.find(kWord);
  return at == text.npos ? text : text.replace(at, kWord.size(), "\x1b[1;31merror:\x1b[0m");
}

}  // namespace

Console::Console(const ConsoleOptions& options)
    : options_(options),
      progressWanted_(isatty(STDERR_FILENO) == 1 && !options.jsonDiagnostics),
      colorErrors_(isatty(STDERR_FILENO) == 1 && !options.noColor && !options.jsonDiagnostics),
      colorOutput_(isatty(STDOUT_FILENO) == 1 && !options.noColor),
      outputWidth_(isatty(STDOUT_FILENO) == 1 ? terminalWidth() : 0) {}

Status Console::print(std::string_view text) {
  clearProgress();
  errno = 0;
  FILE* const stream = options_.dataOnStdout ? stderr : stdout;
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0) return {};
  return fail(Diag::Io, std::string("cannot write to stdout: ") + std::strerror(errno),
              "check where the output goes");
}

void Console::report(const Error& error) {
  clearProgress();
  std::string text = options_.jsonDiagnostics ? jsonText(error) : toText(error);
  if (colorErrors_) text = colored(std::move(text));
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int Console::finish(const Error& error) {
  report(error);
  return info(error.diag).exitCode;
}

void Console::progress(size_t done, size_t total) {
  if (!progressWanted_) return;
  progressShown_ = true;
  std::fprintf(stderr, "\r\x1b[Kkernel %zu of %zu", done, total);
}

void Console::clearProgress() {
  if (!progressShown_) return;
  progressShown_ = false;
  std::fputs("\r\x1b[K", stderr);
}

}  // namespace svod
