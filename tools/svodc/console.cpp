#include "console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace svod {

namespace {

int terminalWidth() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 120;
}

std::string jsonText(const Error& error) {
  std::string text = "{\"code\":" + jsonString(info(error.diag).code) + ",\"message\":" + jsonString(error.message);
  if (!error.loc.file.empty()) text += ",\"file\":" + jsonString(error.loc.file);
  if (error.loc.line > 0) text += ",\"line\":" + std::to_string(error.loc.line);
  if (error.loc.column > 0) text += ",\"column\":" + std::to_string(error.loc.column);
  text += ",\"notes\":[";
  for (size_t i = 0; i < error.notes.size(); ++i) text += (i > 0 ? "," : "") + jsonString(error.notes[i]);
  text += "]";
  if (!error.help.empty()) text += ",\"help\":" + jsonString(error.help);
  return text + ",\"exitCode\":" + std::to_string(info(error.diag).exitCode) + "}\n";
}

std::string colored(std::string text) {
  constexpr std::string_view kWord = "error:";
  const size_t at = text.find(kWord);
  return at == text.npos ? text : text.replace(at, kWord.size(), "\x1b[1;31merror:\x1b[0m");
}

}  // namespace

Console::Console(bool noColor, bool jsonDiagnostics)
    : jsonDiagnostics_(jsonDiagnostics),
      progressWanted_(isatty(STDERR_FILENO) == 1 && !jsonDiagnostics),
      colorErrors_(isatty(STDERR_FILENO) == 1 && !noColor) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  style_ = {terminal && !noColor, terminal ? terminalWidth() : 0};
}

Status Console::print(std::string_view text) {
  clearProgress();
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return fail(Diag::Io, std::string("cannot write to stdout: ") + std::strerror(errno), "check where the output goes");
}

void Console::report(const Error& error) {
  clearProgress();
  std::string text = jsonDiagnostics_ ? jsonText(error) : toText(error);
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (colorErrors_ && !jsonDiagnostics_) text = colored(std::move(text));
  std::fwrite(text.data(), 1, text.size(), stderr);
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
