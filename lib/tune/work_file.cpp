// plan.json of a folder of tuning work: its units, written and read.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/mapped_file.h"
#include "data/sha256.h"
#include "tune/units.h"

namespace svod {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kForm = "svod-tuning-work";
constexpr int64_t kFormNumber = 2;  // a change of what members mean needs another one
constexpr uint64_t kMaxPlanBytes = uint64_t{1} << 26;

Json valueOf(const WorkSetting& setting) {
  return std::visit([](const auto& value) { return Json(value); }, setting.value);
}

Json settingsJson(const std::vector<WorkSetting>& settings) {
  Json json = Json::object();
  for (const WorkSetting& setting : settings) json[setting.name] = valueOf(setting);
  return json;
}

/// The members of an object, and the first thing that is wrong with them.
class Fields {
 public:
  Fields(const Json& json, std::string& problem) : json_(json), problem_(problem) {}

  template <class T>
  void read(const char* key, T& into) {
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    if (found == json_.end() || !isOf(*found, into))
      wrong(key);
    else
      found->get_to(into);
  }
  const Json& list(const char* key) {
    static const Json kNone = Json::array();
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    if (found != json_.end() && found->is_array()) return *found;
    wrong(key);
    return kNone;
  }
  void wrong(const char* key) {
    if (problem_.empty()) problem_ = "'" + std::string(key) + "' is missing or wrong";
  }

 private:
  static bool areTexts(const Json& json) {
    return std::ranges::all_of(json, [](const Json& each) { return each.is_string(); });
  }
  static bool isOf(const Json& json, const bool&) { return json.is_boolean(); }
  static bool isOf(const Json& json, const int64_t&) { return json.is_number_integer(); }
  static bool isOf(const Json& json, const double&) { return json.is_number(); }
  static bool isOf(const Json& json, const std::string&) { return json.is_string(); }
  static bool isOf(const Json& json, const std::vector<std::string>&) { return json.is_array() && areTexts(json); }
  static bool isOf(const Json& json, const std::map<std::string, std::string>&) {
    return json.is_object() && areTexts(json);
  }

  const Json& json_;
  std::string& problem_;
};

template <class T>
void readSetting(Fields& fields, const std::string& name, std::vector<WorkSetting>& settings) {
  T value{};
  fields.read(name.c_str(), value);
  settings.push_back({name, std::move(value)});
}

std::vector<WorkSetting> settingsOf(const Json& json, std::string& problem) {
  std::vector<WorkSetting> settings;
  Fields fields(json, problem);
  if (!json.is_object()) fields.wrong("flags");
  for (const auto& [name, value] : json.items()) {
    if (value.is_boolean())
      readSetting<bool>(fields, name, settings);
    else if (value.is_number())
      readSetting<int64_t>(fields, name, settings);
    else if (value.is_string())
      readSetting<std::string>(fields, name, settings);
    else
      readSetting<std::vector<std::string>>(fields, name, settings);
  }
  return settings;
}

TuneUnit unitOf(const Json& json, std::string& problem) {
  TuneUnit unit;
  Fields fields(json, problem);
  fields.read("hash", unit.hash);
  const auto isDigit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (unit.hash.empty() || !std::ranges::all_of(unit.hash, isDigit))
    fields.wrong("hash");  // it is the name of a folder
  for (const auto& [key, parts] : {std::pair("kernels", &unit.kernels), std::pair("graphs", &unit.graphs)})
    for (const Json& each : fields.list(key)) {
      UnitPart part;
      Fields members(each, problem);
      members.read("hash", part.hash), members.read("name", part.name);
      parts->push_back(std::move(part));
    }
  return unit;
}

TuneWork workOf(const Json& json, std::string& problem) {
  TuneWork work;
  Fields fields(json, problem);
  fields.read("directory", work.directory), fields.read("graphs", work.graphs), fields.read("files", work.files);
  fields.read("target", work.target), fields.read("compiler", work.compiler);
  fields.read("seconds", work.seconds);
  if (!(work.seconds > 0)) fields.wrong("seconds");
  if (work.graphs.empty()) fields.wrong("graphs");
  work.settings = settingsOf(json.value("flags", Json()), problem);
  for (const Json& unit : fields.list("units")) work.units.push_back(unitOf(unit, problem));
  return work;
}

Json partsJson(const std::vector<UnitPart>& parts) {
  Json json = Json::array();
  for (const UnitPart& part : parts) json.push_back({{"hash", part.hash}, {"name", part.name}});
  return json;
}

/// The hash of a kernel says what is compiled; which plans there are of a graph depends on all settings.
std::string hashOf(const TuneUnit& unit, const TuneWork& work) {
  Json json = {{kForm, kFormNumber}, {"target", work.target}, {"compiler", work.compiler}, {"seconds", work.seconds}};
  for (const WorkSetting& setting : work.settings)
    if (setting.isOfSearch || !unit.graphs.empty()) json[setting.name] = valueOf(setting);
  for (const UnitPart& kernel : unit.kernels) json["kernels"].push_back(kernel.hash);
  for (const UnitPart& graph : unit.graphs) json["graphs"].push_back(graph.hash);
  return sha256Hex(json.dump()).substr(0, 12);
}

}  // namespace

std::vector<TuneUnit> unitsOf(const std::vector<TuneKernel>& kernels, const std::vector<UnitPart>& graphs, int64_t most,
                              const TuneWork& work) {
  const size_t parts = kernels.size() + graphs.size();
  const size_t count = most > 0 ? std::min(static_cast<size_t>(most), parts) : parts;
  const size_t forGraphs = count > graphs.size() ? graphs.size() : 0;
  std::vector<TuneUnit> units(count);
  std::vector<double> weights(count - forGraphs);
  for (const TuneKernel& kernel : kernels) {  // the heaviest first
    const auto lightest = static_cast<size_t>(std::ranges::min_element(weights) - weights.begin());
    units[lightest].kernels.push_back({kernel.hash, kernel.kernel->name});
    weights[lightest] += std::max(kernel.weight(), 1.0);
  }
  for (size_t i = 0; i < graphs.size(); ++i)
    units[forGraphs > 0 ? count - forGraphs + i : i % count].graphs.push_back(graphs[i]);
  for (TuneUnit& unit : units) unit.hash = hashOf(unit, work);
  return units;
}

std::string toText(const TuneWork& work) {
  Json units = Json::array();
  for (size_t i = 0; i < work.units.size(); ++i) {
    const TuneUnit& unit = work.units[i];
    units.push_back(
        {{"unit", i}, {"hash", unit.hash}, {"kernels", partsJson(unit.kernels)}, {"graphs", partsJson(unit.graphs)}});
  }
  const Json json = {{kForm, kFormNumber},        {"directory", work.directory},
                     {"graphs", work.graphs},     {"flags", settingsJson(work.settings)},
                     {"files", work.files},       {"target", work.target},
                     {"compiler", work.compiler}, {"seconds", work.seconds},
                     {"units", std::move(units)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TuneWork> readTuneWork(const std::string& folder) {
  const std::string path = folder + "/plan.json";
  SVOD_TRY(const std::string text, readWholeFile(path, kMaxPlanBytes));
  const Json json = Json::parse(text, nullptr, false);
  const std::string help = "svodc tune plan GRAPH.. -o WORK writes such folders";
  if (!json.is_object() || !json.contains(kForm))
    return fail(Diag::Syntax, "'" + path + "' is no plan of tuning work", help);
  if (json.at(kForm) != kFormNumber)
    return fail(
        Diag::Unsupported,
        "'" + path + "' is of form " + json.at(kForm).dump() + ", and this svodc knows " + std::to_string(kFormNumber),
        "use the svodc that wrote it");
  std::string problem;
  TuneWork work = workOf(json, problem);
  if (!problem.empty()) return fail(Diag::Syntax, "'" + path + "' is damaged: " + problem, help);
  return work;
}

}  // namespace svod
