// svodc: the command line of the compiler. Reads argv and the environment, and hands both on.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "command_line.h"
#include "console/console.h"
#include "console/process.h"
#include "help.h"
#include "lists.h"
#include "options.h"
#include "support/suggest.h"

extern char** environ;

using namespace svod;

namespace {

Environment readEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.forTools.emplace_back(*entry);
  if (const char* directory = std::getenv("TMPDIR"); directory != nullptr && *directory != '\0')
    environment.tempDirectory = directory;
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  std::error_code ignored;
  if (cache != nullptr && *cache == '/') {  // a relative one is to be ignored
    environment.cacheDirectory = std::string(cache) + "/svod";
  } else if (home != nullptr && std::filesystem::is_directory(home, ignored)) {  // some users have none
    environment.cacheDirectory = std::string(home) + "/.cache/svod";
  }
  const char* noColor = std::getenv("NO_COLOR");
  environment.noColor = noColor != nullptr && *noColor != '\0';
  return environment;
}

Result<int> answerAside(const Request& request, Console& console) {
  if (request.flags.help) {
    SVOD_CHECK(console.print(helpText(request.command)));
  } else if (request.flags.version) {
    SVOD_CHECK(console.print("svodc " SVOD_VERSION "\n"));
  }
  for (std::string_view name : request.lists)
    for (const List& list : allLists())
      if (list.name == name)
        SVOD_CHECK(console.print(request.flags.json ? toJson(list.make()) : toText(list.make(), styleOf(console))));
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

}  // namespace

int main(int argc, char** argv) {
  prepareProcess();
  const Environment environment = readEnvironment();
  const bool noColor = environment.noColor;
  if (argc < 2) {
    std::fputs(helpText(nullptr).c_str(), stderr);
    return info(Diag::Usage).exitCode;
  }
  auto request = parseCommandLine({argv + 1, argv + argc}, environment);
  Console console({noColor, request && request->flags.diagnostics == "json"});
  if (!request) return console.finish(request.error());
  InterruptGuard interrupts(console);
  request->interrupts = &interrupts;
  try {
    const Result<int> result = run(*request, console);
    if (result) return *result;
    interrupts.beforeError();
    return console.finish(result.error());
  } catch (const std::bad_alloc&) {
    return console.finish({Diag::DeviceFailure, "out of memory", "use smaller shapes", {}, {}});
  }
}
