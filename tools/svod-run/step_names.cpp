#include "step_names.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "data/mapped_file.h"
#include "data/read_json.h"

namespace svod {

namespace {

using Json = nlohmann::json;

constexpr size_t kLevels = 64;
constexpr uint64_t kPackHead = 32,
                   kManifestBytes = 16;  // where the manifest of a pack begins, and where its size stands

Error badPlan(const std::string& plan) {
  return {Diag::BadPlan, "'" + plan + "' has no names of steps", "compile the graph again"};
}

Result<Json> manifestOf(const std::string& plan) {
  std::string text;
  if (std::filesystem::is_directory(plan)) {
    SVOD_TRY(text, readWholeFile(plan + "/plan.json"));
  } else {
    SVOD_TRY(const MappedFile pack, MappedFile::open(plan));
    uint64_t bytes = 0;
    if (pack.size() < kPackHead) return fail(badPlan(plan));
    std::memcpy(&bytes, pack.data() + kManifestBytes, sizeof bytes);
    if (bytes > pack.size() - kPackHead) return fail(badPlan(plan));
    text.assign(reinterpret_cast<const char*>(pack.data()) + kPackHead, bytes);
  }
  std::optional<Json> json = readJson(text, kLevels);
  if (!json || !json->is_object()) return fail(badPlan(plan));
  return *std::move(json);
}

const Json& member(const Json& object, const char* key) {
  static const Json kNone;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNone;
}

const Json& entry(const Json& list, const Json& index) {
  static const Json kNone;
  return list.is_array() && index.is_number_unsigned() && index.get<uint64_t>() < list.size()
             ? list[index.get<size_t>()]
             : kNone;
}

std::string layerOf(const std::string& value) {
  const size_t slash = value.rfind('/'), dot = value.rfind('.');
  const size_t end = slash != std::string::npos && slash > 0 ? slash : dot;
  return end == std::string::npos || end == 0 ? value : value.substr(0, end);
}

bool isWritten(const Json& argument) {
  const Json& mode = member(argument, "mode");
  return mode == "write" || mode == "readwrite";
}

/// The names of the buffers that a step writes.
std::vector<std::string> resultsOf(const Json& plan, const Json& step) {
  std::vector<std::string> names;
  const auto add = [&](const Json& buffer) {
    const Json& name = member(entry(member(plan, "buffers"), buffer), "name");
    if (name.is_string() && !name.get_ref<const std::string&>().empty()) names.push_back(name);
  };
  if (const Json& copy = member(step, "copy"); copy.is_object()) add(member(copy, "dst"));
  for (const Json& argument : member(member(step, "call"), "args"))
    if (isWritten(argument)) add(member(argument, "buffer"));
  const Json &launch = member(step, "launch"), &buffers = member(launch, "buffers");
  const Json& arguments = member(entry(member(plan, "kernels"), member(launch, "kernel")), "args");
  for (size_t i = 0; i < std::min(buffers.size(), arguments.size()); i++)
    if (isWritten(arguments[i])) add(buffers[i]);
  return names;
}

std::string nameFor(const std::vector<std::string>& values, ProfileBy by) {
  if (values.empty()) return "(no name)";
  if (by == ProfileBy::Layer) return layerOf(values.front());
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

}  // namespace

Result<std::vector<std::string>> stepNames(const std::string& plan, ProfileBy by) {
  if (by == ProfileBy::Kernel) return std::vector<std::string>();
  SVOD_TRY(const Json manifest, manifestOf(plan));
  std::vector<std::string> names;
  for (const Json& step : member(manifest, "steps")) names.push_back(nameFor(resultsOf(manifest, step), by));
  return names;
}

}  // namespace svod
