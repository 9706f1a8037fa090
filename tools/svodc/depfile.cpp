#include "depfile.h"

#include <filesystem>

#include "data/atomic_write.h"
#include "data/distinct.h"
#include "plan/directory.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

bool isFile(const std::string& path) { return !path.empty() && path != "-"; }

/// A name as make and Ninja read it.
Result<std::string> quoted(const std::string& name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (static_cast<unsigned char>(c) < ' ')
      return fail(Diag::Usage, "the name '" + name + "' cannot stand in a depfile",
                  "rename it: without control characters");
    if (c == ' ')  // backslashes before it would be taken for an escape of each other
      for (size_t k = i; k > 0 && name[k - 1] == '\\'; --k) text += '\\';
    if (c == ' ' || c == '#' || c == ':') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

/// The files that must stay as they are.
std::vector<ResultFile> readFiles(const Request& request) {
  std::vector<ResultFile> files = {{"the graph", request.files.at(0)},
                                   {"--decide-from", request.flags.decideFrom},
                                   {"--tuning-log", request.flags.tuningLog}};
  for (const std::string& text : request.flags.constant)
    if (const auto option = parseConstantOption(text)) files.push_back({"--const", option->second});
  return files;
}

Status checkDepfile(const Request& request, const std::string& path) {
  const Flags& flags = request.flags;
  if (path == "-") return fail(Diag::Usage, "a depfile does not go to stdout", "name a file: -MF FILE");
  std::vector<ResultFile> others = readFiles(request);
  others.push_back({"--output", flags.output});
  for (const ResultFile& other : others) {
    const ResultFile files[] = {{"--depfile", path}, other};
    SVOD_CHECK(checkDistinct(files));
  }
  if (request.command->bit == Compile && isInPlan(path, flags))
    return fail(Diag::Usage, "the depfile '" + path + "' would be a file of the plan", "put it beside the plan");
  return checkFolderOf(path);
}

}  // namespace

bool isInPlan(const std::string& path, const Flags& flags) {
  if (flags.output.empty()) return false;
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(fs::absolute(path), ignored).parent_path();
  return folder == fs::weakly_canonical(fs::absolute(flags.output) / kPlanFileName, ignored).parent_path();
}

std::set<std::string> namedFiles(const Request& request, const LoadOptions& load) {
  std::set<std::string> files;
  if (isFile(request.files.at(0))) files.insert(request.files[0]);
  for (const auto& [input, path] : load.constants) files.insert(path);
  if (!request.flags.tuningLog.empty()) files.insert(request.flags.tuningLog);
  const std::string& decisions = request.flags.decideFrom;
  std::error_code ignored;
  if (!decisions.empty())
    files.insert(fs::is_directory(decisions, ignored) ? decisions + "/" + kPlanFileName : decisions);
  return files;
}

std::string depfilePath(const Flags& flags) {
  if (!flags.depfile.empty()) return flags.depfile;
  if (!flags.dependencies) return "";
  std::string base = flags.output;
  while (base.size() > 1 && base.back() == '/') base.pop_back();
  return base == "-" ? base : base + ".d";
}

Status checkResults(const Request& request) {
  if (isFile(request.flags.output)) SVOD_CHECK(checkFolderOf(request.flags.output));
  if (request.flags.dependencies && request.flags.depfile.empty() && request.flags.output.empty())
    return fail(Diag::Usage, "the depfile of -MD has its name from that of --output, which is not given",
                "name it: -MF FILE");
  const std::string path = depfilePath(request.flags);
  if (!path.empty()) return checkDepfile(request, path);
  if (request.flags.depfileTarget.empty() && !request.flags.depfilePhony) return {};
  return fail(Diag::Usage, "--depfile-target and --depfile-phony say what stands in a depfile, and none is asked for",
              "add -MD, or -MF FILE");
}

Status writeDepfile(const Request& request, const std::vector<std::string>& results,
                    const std::set<std::string>& read) {
  const Flags& flags = request.flags;
  const std::string path = depfilePath(flags);
  if (path.empty()) return {};
  std::string text, rules;
  for (const std::string& target : flags.depfileTarget.empty() ? results : flags.depfileTarget) {
    SVOD_TRY(const std::string name, quoted(target));
    text += (text.empty() ? "" : " ") + name;
  }
  text += ":";
  for (const std::string& file : read) {
    SVOD_TRY(const std::string name, quoted(file));
    text += " \\\n  " + name;
    if (file != request.files.at(0)) rules += "\n" + name + ":\n";
  }
  text += "\n" + (flags.depfilePhony ? rules : "");
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text.data(), text.size()));
  if (holdsChunks(path, std::span(&bytes, 1))) return {};
  return writeFileAtomic(path, text);
}

}  // namespace svod
