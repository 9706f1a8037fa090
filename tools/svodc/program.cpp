#include "program.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "command_line.h"
#include "console/console.h"
#include "console/memory_end.h"
#include "console/process.h"
#include "help.h"
#include "lists.h"
#include "print.h"
#include "support/suggest.h"
#include "target/target.h"
#include "toolchain/llvm_errors.h"

namespace svod {

namespace {

Result<int> answerAside(const Request& request, Console& console) {
  if (request.flags.help) {
    SVOD_CHECK(console.print(helpText(request.command)));
  } else if (request.flags.version) {
    SVOD_CHECK(console.print("svodc " SVOD_VERSION "\n"));
  }
  if (!request.lists.empty() && !request.flags.target.empty())
    SVOD_CHECK(targetByName(request.flags.target).transform([](const Target*) {}));
  for (std::string_view name : request.lists)
    for (const List& list : allLists())
      if (list.name == name) {
        const Table table = list.make(request.flags);
        SVOD_CHECK(console.print(request.flags.json ? toJson(table) : toText(table, styleOf(console))));
      }
  return 0;
}

Status checkDiagnosticsForm(const Flags& flags) {
  if (flags.diagnostics == "text" || flags.diagnostics == "json") return {};
  constexpr std::string_view kForms[] = {"text", "json"};
  return fail(Diag::Usage, "there is no form '" + flags.diagnostics + "' of diagnostics",
              choicesFor(flags.diagnostics, kForms));
}

Result<int> run(const Request& request, Console& console) {
  SVOD_CHECK(checkDiagnosticsForm(request.flags));
  const bool aside = request.flags.help || request.flags.version || !request.lists.empty();
  return aside ? answerAside(request, console) : request.command->run(request, console);
}

constexpr const char* kSmaller = "use smaller shapes, or fewer jobs (-j), or raise the limit (ulimit -v)";

pid_t ownProcess = 0;
InterruptGuard* ownInterrupts = nullptr;
const char* ownTempDirectory = "";

/// The code generator or the linker cannot go on, and has no way to say so but to end the process. Who forked another
/// one asks how that ended.
void endOfLlvm(const char* reason) {
  if (::getpid() != ownProcess) std::abort();
  const std::string_view words = reason;
  const auto isFull = [&](int error) { return words.find(std::strerror(error)) != words.npos; };
  const bool isIo = std::ranges::any_of(std::array{ENOSPC, EDQUOT, EFBIG, EIO}, isFull);
  const DiagInfo& row = info(isIo ? Diag::Io : Diag::CompileFailed);
  if (isIo)
    std::fprintf(stderr,
                 "error: cannot write the files of the linker in '%s': %s [io]\n"
                 "  help: free some space there, or have TMPDIR name a folder of another disk\n",
                 ownTempDirectory, reason);
  else
    std::fprintf(stderr, "error: the code generator failed: %s [%s]\n", reason, std::string(row.code).c_str());
  std::fflush(nullptr);
  ownInterrupts->clearAway();
  std::_Exit(row.exitCode);
}

}  // namespace

int runProgram(const std::vector<std::string>& words, const Environment& environment,
               const PassInstrument& instrument) {
  prepareProcess();
  if (words.empty()) {
    std::fputs(helpText(nullptr).c_str(), stderr);
    return info(Diag::Usage).exitCode;
  }
  auto request = parseCommandLine(words, environment);
  Console console({environment.noColor, request && request->flags.diagnostics == "json"});
  if (!request) return console.finish(request.error());
  InterruptGuard interrupts(console);
  request->interrupts = &interrupts;
  const MemoryEnd memory(console, interrupts, kSmaller);
  ownProcess = ::getpid(), ownInterrupts = &interrupts;
  ownTempDirectory = request->environment.tempDirectory.c_str();
  handleLlvmErrors(MemoryEnd::reached, endOfLlvm);
  request->instrument = instrument;
  try {
    const Result<int> result = run(*request, console);
    if (result) return *result;
    interrupts.beforeError();
    return console.finish(result.error());
  } catch (const std::bad_alloc&) {
    return console.finish({Diag::DeviceFailure, "out of memory", kSmaller});
  }
}

}  // namespace svod
