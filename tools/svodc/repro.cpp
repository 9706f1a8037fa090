#include "repro.h"

#include <algorithm>
#include <filesystem>

#include "data/atomic_write.h"
#include "support/text.h"

namespace svod {

namespace {

constexpr const char* kGraphFile = "before.uop";
// What else failures leave (wrong_plan.h).
constexpr std::string_view kNames[] = {kGraphFile, kReportFile, "graph.svod", "smaller.svod", "graph.safetensors"};
constexpr std::string_view kArrays[] = {"input-", "expected-", "plan-"};

bool isOurs(std::string_view name) {
  if (std::ranges::find(kNames, name) != std::end(kNames)) return true;
  const auto begins = [&](std::string_view kind) { return name.starts_with(kind) && name.ends_with(".npy"); };
  return std::ranges::any_of(kArrays, begins);
}

std::span<const std::byte> bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

bool isRepro(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (!isOurs(entry.path().filename().string())) return false;
  return !error;
}

std::string shellCommand(const std::vector<std::string>& words) {
  std::string text = "svodc";
  for (const std::string& word : words) text += " " + shellWord(word);
  return text;
}

namespace {

/// How to run the pass alone on the graph that it was given.
std::string againCommand(const PassFailure& failure, const Flags& flags) {
  const bool isCode = failure.pass.starts_with("code of ");
  std::vector<std::string> words = {isCode ? "--emit" : failure.pass};
  if (isCode) words.push_back(flags.target == "c" ? "c" : "llvm");
  words.push_back(kGraphFile);
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--target", flags.target), add("--triple", flags.triple), add("--cpu", flags.cpu),
      add("--numerics", flags.numerics);
  for (const std::string& line : flags.decide) add("--decide", line);
  for (const std::string& rule : flags.disableRule) add("--disable-rule", rule);
  for (const std::string& text : flags.opts)
    if (failure.kernel.find(text.substr(0, text.find('='))) != std::string::npos)
      add("--opts", text.substr(text.find('=') + 1));
  std::string command = "svod-opt";
  for (const std::string& word : words) command += " " + shellWord(word);
  return flags.optLevel == 0 ? command + " -O0" : command;
}

}  // namespace

Error withRepro(Error error, const PassFailure& failure, const Request& request) {
  const std::string& folder = request.flags.reproDir;
  if (folder == "none") return error;
  const std::string report = "pass: " + failure.pass + "\nkernel: " + failure.kernel +
                             "\ncommand: " + shellCommand(request.words) +
                             "\nagain: " + againCommand(failure, request.flags) + "\n\n" + toText(error) + "\n";
  const std::vector<FileContent> files = {{kGraphFile, {bytesOf(failure.before)}}, {kReportFile, {bytesOf(report)}}};
  if (Status written = writeDirectoryAtomic(folder, files, isRepro); !written)
    return std::move(error).withNote("nothing was left in --repro-dir: " + written.error()->message);
  return std::move(error).withNote("the graph before the pass, the message and the command are in " + folder);
}

}  // namespace svod
