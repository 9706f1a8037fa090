#include "measure/code_store.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/atomic_write.h"
#include "data/mapped_file.h"

namespace svod {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kList = ".code";

std::string nameOf(const std::string& kernel, const std::string& writer) { return kernel + "-" + writer; }

/// Nothing where it says something else.
std::optional<CompiledCandidate> candidateOf(const Json& json, const std::string& folder) {
  if (!json.is_object() || !json.contains("opts") || !json["opts"].is_string()) return std::nullopt;
  CompiledCandidate made;
  if (json.contains("code")) {
    try {
      made.code = codeFromText(json["code"].get<std::string>());
    } catch (const Json::exception&) {
      return std::nullopt;
    }
    made.code.library = (fs::path(folder) / made.code.library).string();
    if (std::error_code ignored; !fs::is_regular_file(made.code.library, ignored)) return std::nullopt;
    return made;
  }
  const std::optional<Outcome> outcome = outcomeFromText(json.value("outcome", std::string()));
  if (!outcome) return std::nullopt;
  made.verdict = {*outcome, json.value("reason", std::string())};
  return made;
}

}  // namespace

std::string CodeStore::libraries(const std::string& kernel, const std::string& writer) const {
  return folder_ + "/" + nameOf(kernel, writer) + "-";
}

Status CodeStore::add(const std::string& kernel, const std::string& writer, const std::vector<std::string>& lists,
                      const std::vector<CompiledCandidate>& compiled) const {
  std::string text;
  for (size_t i = 0; i < compiled.size(); ++i) {
    Json json = {{"opts", lists[i]}};
    if (compiled[i].verdict.outcome == Outcome::Timed) {
      CandidateCode code = compiled[i].code;
      code.library = fs::path(code.library).filename().string();
      json["code"] = toText(code);
    } else {
      json["outcome"] = info(compiled[i].verdict.outcome).name, json["reason"] = compiled[i].verdict.reason;
    }
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return writeFileAtomic(folder_ + "/" + nameOf(kernel, writer) + kList, text);
}

std::map<std::string, CompiledCandidate> CodeStore::of(const std::string& kernel) const {
  std::vector<std::string> lists;
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder_, ignored))
    if (file.path().extension() == kList && file.path().filename().string().starts_with(kernel))
      lists.push_back(file.path().string());
  std::ranges::sort(lists);
  std::map<std::string, CompiledCandidate> all;
  for (const std::string& list : lists) {
    const Result<std::string> text = readWholeFile(list);
    if (!text) continue;
    std::string_view rest = *text;
    for (size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
      const Json json = Json::parse(rest.substr(0, end), nullptr, false);
      if (std::optional<CompiledCandidate> made = candidateOf(json, folder_))
        all.emplace(json["opts"].get<std::string>(), std::move(*made));
    }
  }
  return all;
}

}  // namespace svod
