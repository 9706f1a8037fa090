#include "tools/svod-compiler/compilation.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "console/console.h"
#include "console/process.h"
#include "support/error_text.h"
#include "tools/svodc/command_line.h"

namespace svod {

namespace fs = std::filesystem;

namespace {

/// A result where the folder is, which it does not leave.
Result<std::string> pathBelow(const std::string& folder, const std::string& path) {
  const fs::path given(path);
  if (path.empty() || path == "-" || given.is_absolute() || std::ranges::find(given, "..") != given.end())
    return fail(Diag::Usage, "the result '" + path + "' is not in the folder of the artifacts",
                "give -o and --emit paths that are relative to it");
  return folder + "/" + path;
}

/// Results of the flags as paths of files.
Status placeResults(Request& request, const std::string& name, const std::string& folder) {
  Flags& flags = request.flags;
  if (flags.output.empty() && flags.emit.empty()) flags.output = name + ".plan";
  if (!flags.output.empty()) {
    SVOD_TRY(flags.output, pathBelow(folder, flags.output));
  }
  for (std::string& emission : flags.emit) {
    const size_t equals = emission.find('=');
    if (equals == emission.npos) continue;  // it stands beside the output
    SVOD_TRY(const std::string path, pathBelow(folder, emission.substr(equals + 1)));
    emission = emission.substr(0, equals + 1) + path;
  }
  if (!flags.depfile.empty()) {
    SVOD_TRY(flags.depfile, pathBelow(folder, flags.depfile));
  }
  return {};
}

Result<Request> requestOf(const std::string& graph, const std::string& name, const std::vector<std::string>& words,
                          const std::string& folder) {
  std::vector<std::string> line = {"compile", graph};
  line.insert(line.end(), words.begin(), words.end());
  Environment environment = readEnvironment();
  environment.makeFlags.clear();  // the jobs are those of the program
  SVOD_TRY(Request request, parseCommandLine(line, std::move(environment)));
  if (request.flags.help || request.flags.version || !request.lists.empty() || !request.flags.stopAfter.empty())
    return fail(Diag::Usage, "--help, --version, --stop-after and lists make no files", "leave them out");
  SVOD_CHECK(placeResults(request, name, folder));
  request.flags.json = true;
  return request;
}

Result<std::vector<CompiledFile>> filesOf(const std::string& report, const std::string& folder) {
  std::vector<std::string> paths;
  const nlohmann::json said = nlohmann::json::parse(report, nullptr, false);
  if (said.is_object() && said.contains("filesWritten")) paths = said["filesWritten"].get<std::vector<std::string>>();
  std::ranges::sort(paths);
  std::vector<CompiledFile> files;
  for (const std::string& path : paths) {
    SVOD_TRY(MappedFile file, MappedFile::open(path));
    files.push_back({path.substr(folder.size() + 1), std::move(file)});
  }
  return files;
}

std::mutex oneCompile;  // the linker has state that the process shares

}  // namespace

Result<TempDir> makeWorkFolder() {
  const Environment environment = readEnvironment();
  TempDir::removeAbandoned(environment.tempDirectory);
  return TempDir::make(environment.tempDirectory);
}

Result<CompiledFiles> compileInProcess(const std::string& graph, const std::string& name,
                                       const std::vector<std::string>& words, const std::string& folder) {
  const std::lock_guard<std::mutex> lock(oneCompile);
  SVOD_TRY(Request request, requestOf(graph, name, words, folder));
  CompiledFiles made;
  ConsoleOptions options;
  options.onResult = [&](std::string_view text) { made.report += text; };
  options.onMessage = [&](const Error& error, std::string_view severity) {
    made.notes += toText(error, std::string(severity) + ":") + "\n";
  };
  Console console(options);
  InterruptGuard interrupts;
  request.interrupts = &interrupts;
  if (Result<int> done = request.command->run(request, console); !done) return fail(std::move(done.error()));
  SVOD_TRY(made.files, filesOf(made.report, folder));
  return made;
}

}  // namespace svod
