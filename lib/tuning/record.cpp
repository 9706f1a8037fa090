#include "tuning/record.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/read_json.h"

namespace svod {

namespace {

using Json = nlohmann::ordered_json;  // as lines are written
using ReadJson = nlohmann::json;

constexpr const char* kForm = "svod-tuning";
constexpr int64_t kFormNumber = 1;  // a change of what members mean needs another one
constexpr size_t kMaxLineBytes = size_t{1} << 24;
constexpr size_t kMaxLevels = 3;
// Beyond these nothing was measured, and sums of them would be infinite.
constexpr double kMostNs = 1e15, kMostRatio = 1e9, kMostCount = 1e12;

Json jsonOf(const KernelRecord& r) {
  Json json = {{kForm, kFormNumber}, {"kernel", r.kernel}, {"record", "kernel"}, {"name", r.name}, {"text", r.text}};
  if (r.launches != 0) json["launches"] = r.launches;
  return json;
}

Json jsonOf(const GraphRecord& r) {
  Json json = {{kForm, kFormNumber}, {"graph", r.graph}, {"record", "graph"}, {"name", r.name}};
  if (r.launches.empty()) return json;
  json["target"] = r.target, json["compiler"] = r.compiler;
  if (!r.decisions.empty()) json["decisions"] = r.decisions;
  json["launches"] = r.launches;
  return json;
}

template <class Record>
void addPlace(Json& json, const Record& r) {
  json["target"] = r.target, json["machine"] = r.machine, json["compiler"] = r.compiler;
}

void addVerdict(Json& json, const TrialRecord& r) {
  json["origin"] = r.origin, json["outcome"] = info(r.outcome).name;
  if (!r.decisions.empty()) json["decisions"] = r.decisions;
  if (!r.reason.empty()) json["reason"] = r.reason;
  const std::pair<const char*, double> numbers[] = {
      {"predicted", r.predicted}, {"ns", r.nanoseconds}, {"noise", r.noise}, {"ratio", r.ratio}};
  for (const auto& [key, value] : numbers)
    if (value != 0) json[key] = value;
  if (r.ulp) json["ulp"] = *r.ulp;
  if (r.runs != 0) json["runs"] = r.runs;
}

Json jsonOf(const CandidateRecord& r) {
  Json json = {{kForm, kFormNumber}, {"kernel", r.kernel}, {"record", "candidate"}};
  addPlace(json, r);
  json["opts"] = r.opts;
  addVerdict(json, r);
  if (r.number != 0) json["number"] = r.number;
  return json;
}

Json jsonOf(const PlanRecord& r) {
  Json json = {{kForm, kFormNumber}, {"graph", r.graph}, {"record", "plan"}};
  addPlace(json, r);
  addVerdict(json, r);
  return json;
}

Json jsonOf(const GainRecord& r) {
  Json json = {{kForm, kFormNumber}, {"graph", r.graph}, {"record", "gain"}};
  addPlace(json, r);
  if (!r.asked.empty()) json["asked"] = r.asked;
  if (!r.decisions.empty()) json["decisions"] = r.decisions;
  if (!r.passed.empty()) json["passed"] = r.passed;
  json["kernels"] = Json::object();
  for (const auto& [kernel, opts] : r.kernels) json["kernels"][kernel] = opts ? Json(*opts) : Json();
  json["usual"] = r.baseline, json["warm"] = r.warm, json["cold"] = r.cold;
  return json;
}

/// The members of an object, and the first thing that is wrong with them.
class Members {
 public:
  explicit Members(const ReadJson& json) : json_(json) {}

  std::string text(const char* key, bool isNeeded) {
    const auto found = json_.find(key);
    if (found == json_.end()) {
      if (isNeeded) wrong(key, "is missing");
      return {};
    }
    if (found->is_string()) return found->get<std::string>();
    wrong(key, "is no text");
    return {};
  }
  bool has(const char* key) const { return json_.contains(key); }
  double nanoseconds(const char* key) { return number(key, kMostNs); }
  double ratio(const char* key) { return number(key, kMostRatio); }
  int64_t count(const char* key) {
    const double value = number(key, kMostCount);
    if (value != std::floor(value)) wrong(key, "is no count");
    return problem_.empty() ? static_cast<int64_t>(value) : 0;
  }
  std::vector<std::string> texts(const char* key) {
    const auto found = json_.find(key);
    return found == json_.end() ? std::vector<std::string>() : textsIn(*found, key);
  }
  std::vector<std::vector<std::string>> listsOfTexts(const char* key) {
    std::vector<std::vector<std::string>> all;
    const auto found = json_.find(key);
    if (found == json_.end()) return all;
    if (!found->is_array()) wrong(key, "is no list");
    for (const ReadJson& each : *found) all.push_back(textsIn(each, key));
    return all;
  }
  std::map<std::string, int64_t> counts(const char* key) {
    std::map<std::string, int64_t> all;
    Members members(object(key));
    for (const auto& [name, value] : members.json_.items()) all[name] = members.count(name.c_str());
    if (!members.problem_.empty()) wrong(key, "has what is no count");
    return all;
  }
  /// Those that are null have none.
  std::map<std::string, std::optional<std::string>> textsByName(const char* key) {
    std::map<std::string, std::optional<std::string>> all;
    for (const auto& [name, value] : object(key).items()) {
      if (!value.is_string() && !value.is_null()) wrong(key, "has what is no text");
      all[name] = value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
    }
    return all;
  }
  void wrong(const std::string& key, const std::string& what) {
    if (problem_.empty()) problem_ = "'" + key + "' " + what;
  }
  const std::string& problem() const { return problem_; }

 private:
  double number(const char* key, double most) {
    const auto found = json_.find(key);
    if (found == json_.end()) return 0;
    const double value = found->is_number() ? found->get<double>() : -1;
    if (!(value >= 0 && value <= most))
      wrong(key, "is no number from 0 to 1e" + std::to_string(std::lround(std::log10(most))));
    return value;
  }
  std::vector<std::string> textsIn(const ReadJson& list, const char* key) {
    std::vector<std::string> all;
    if (!list.is_array() || !std::ranges::all_of(list, [](const ReadJson& each) { return each.is_string(); }))
      wrong(key, "is no list of texts");
    else
      for (const ReadJson& each : list) all.push_back(each.get<std::string>());
    return all;
  }
  /// Empty where it is missing.
  const ReadJson& object(const char* key) {
    static const ReadJson kNone = ReadJson::object();
    const auto found = json_.find(key);
    if (found == json_.end()) return kNone;
    if (found->is_object()) return *found;
    wrong(key, "is no object");
    return kNone;
  }

  const ReadJson& json_;
  std::string problem_;
};

std::string hashOf(Members& members, const char* key) {
  std::string hash = members.text(key, true);
  const auto isDigit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hash.size() != 32 || !std::ranges::all_of(hash, isDigit)) members.wrong(key, "is no hash of 32 digits");
  return hash;
}

TuningRecord kernelOf(Members& members) {
  return KernelRecord{hashOf(members, "kernel"), members.text("name", true), members.text("text", true),
                      members.count("launches")};
}

TuningRecord graphOf(Members& members) {
  const bool isKnown = members.has("launches");
  return GraphRecord{hashOf(members, "graph"),          members.text("name", true), members.text("target", isKnown),
                     members.text("compiler", isKnown), members.texts("decisions"), members.counts("launches")};
}

void readTrial(Members& members, TrialRecord& r) {
  r.target = members.text("target", true), r.machine = members.text("machine", true);
  r.compiler = members.text("compiler", true);
  r.decisions = members.texts("decisions");
  r.origin = members.text("origin", true), r.reason = members.text("reason", false);
  const std::optional<Outcome> outcome = outcomeFromText(members.text("outcome", true));
  if (!outcome) members.wrong("outcome", "is none");
  r.outcome = outcome.value_or(Outcome::Started);
  r.predicted = members.nanoseconds("predicted"), r.nanoseconds = members.nanoseconds("ns");
  r.noise = members.ratio("noise"), r.ratio = members.ratio("ratio"), r.runs = members.count("runs");
  if (members.has("ulp")) r.ulp = members.ratio("ulp");
  const bool isCompared = r.outcome == Outcome::Wins || r.outcome == Outcome::Loses;
  if (isCompared && r.ratio == 0) members.wrong("ratio", "is missing");
}

TuningRecord candidateOf(Members& members) {
  CandidateRecord r;
  r.kernel = hashOf(members, "kernel");
  r.opts = members.text("opts", true);
  readTrial(members, r);
  r.number = members.count("number");
  return r;
}

TuningRecord planOf(Members& members) {
  PlanRecord r;
  r.graph = hashOf(members, "graph");
  readTrial(members, r);
  return r;
}

TuningRecord gainOf(Members& members) {
  GainRecord r;
  r.graph = hashOf(members, "graph");
  r.target = members.text("target", true), r.machine = members.text("machine", true);
  r.compiler = members.text("compiler", true);
  r.asked = members.texts("asked"), r.decisions = members.texts("decisions");
  r.passed = members.listsOfTexts("passed");
  r.kernels = members.textsByName("kernels");
  r.baseline = members.nanoseconds("usual"), r.warm = members.ratio("warm"), r.cold = members.ratio("cold");
  if (r.warm == 0 || r.cold == 0) members.wrong("warm", "or 'cold' is missing");
  return r;
}

struct Kind {
  std::string_view name;
  TuningRecord (*read)(Members& members);
};
constexpr Kind kKinds[] = {
    {"kernel", kernelOf}, {"candidate", candidateOf}, {"graph", graphOf}, {"plan", planOf}, {"gain", gainOf}};

Status malformed(std::string what) { return fail(Diag::Syntax, std::move(what), "svodc tune writes such lines"); }

}  // namespace

std::string toLine(const TuningRecord& record) {
  const Json json = std::visit([](const auto& r) { return jsonOf(r); }, record);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<TuningRecord> recordFromLine(std::string_view line) {
  if (line.size() > kMaxLineBytes) return fail(malformed("the line is longer than 16 MiB").error());
  const ReadJson json = readJson(line, kMaxLevels).value_or(nullptr);
  if (!json.is_object()) return fail(malformed("no JSON object").error());
  const auto form = json.find(kForm);
  if (form == json.end() || !form->is_number_integer() || form->get<int64_t>() < 1)
    return fail(malformed("'" + std::string(kForm) + "' is missing").error());
  if (form->get<int64_t>() > kFormNumber)
    return fail(Diag::Unsupported, "the line is of form " + form->dump() + ", and this svodc knows 1",
                "use the svodc that wrote it, or a later one");
  Members members(json);
  const auto kind = std::ranges::find(kKinds, members.text("record", true), &Kind::name);
  TuningRecord record;
  if (kind != std::end(kKinds))
    record = kind->read(members);
  else
    members.wrong("record", "is no kind of record");
  if (!members.problem().empty()) return fail(malformed(members.problem()).error());
  return record;
}

}  // namespace svod
