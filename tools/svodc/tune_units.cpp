#include "tune_units.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "data/sha256.h"

namespace svod {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kForm = "svod-tuning-work";
constexpr int64_t kFormNumber = 2;  // a change of what members mean needs another one
constexpr uint64_t kMaxPlanBytes = uint64_t{1} << 26, kMaxDoneBytes = 4096;

std::string planPath(const std::string& folder) { return folder + "/plan.json"; }
std::string unitFolder(const std::string& folder, const TuneUnit& unit) { return folder + "/units/" + unit.hash; }
std::string donePath(const std::string& folder, const TuneUnit& unit) { return unitFolder(folder, unit) + "/done"; }
std::string attemptPath(const std::string& folder, const TuneUnit& unit, int number) {
  return unitFolder(folder, unit) + "/attempt-" + std::to_string(number) + ".log";
}

/// What the file `done` says once the unit ended with this attempt: a line as sha256sum writes it.
Result<std::string> doneText(const std::string& attempt) {
  SVOD_TRY(const std::string hash, hashOfFile(attempt));
  return hash + "  " + fs::path(attempt).filename().string() + "\n";
}

/// Those in the folder of a unit. attempt-10.log stands behind attempt-9.log.
std::vector<std::string> logsOf(const std::string& unit) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(unit, ignored))
    if (file.path().extension() == ".log") paths.push_back(file.path().string());
  std::ranges::sort(paths, {}, [](const std::string& path) { return std::pair(path.size(), path); });
  return paths;
}

Json valueOf(const FlagInfo& row, const Flags& flags) {
  return std::visit([&](auto member) { return Json(flags.*member); }, row.member);
}

Json flagsJson(const Flags& flags) {
  Json json = Json::object();
  for (const FlagInfo& row : allFlags())
    if (isPlanned(row)) json[std::string(row.name)] = valueOf(row, flags);
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

void readFlags(Fields fields, Flags& flags) {
  for (const FlagInfo& row : allFlags())
    if (isPlanned(row))
      std::visit([&](auto member) { fields.read(std::string(row.name).c_str(), flags.*member); }, row.member);
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
  setDefaults(work.flags);
  Fields fields(json, problem);
  fields.read("directory", work.directory), fields.read("graphs", work.graphs), fields.read("files", work.files);
  fields.read("target", work.target), fields.read("compiler", work.compiler);
  fields.read("seconds", work.seconds);
  if (!(work.seconds > 0)) fields.wrong("seconds");
  if (work.graphs.empty()) fields.wrong("graphs");
  const Json flags = json.value("flags", Json());
  readFlags(Fields(flags, problem), work.flags);
  for (const Json& unit : fields.list("units")) work.units.push_back(unitOf(unit, problem));
  return work;
}

Json partsJson(const std::vector<UnitPart>& parts) {
  Json json = Json::array();
  for (const UnitPart& part : parts) json.push_back({{"hash", part.hash}, {"name", part.name}});
  return json;
}

/// The hash of a kernel says what is compiled; which plans there are of a graph depends on flags besides.
std::string hashOf(const TuneUnit& unit, const TuneWork& work) {
  Json json = {{kForm, kFormNumber}, {"target", work.target}, {"compiler", work.compiler}, {"seconds", work.seconds}};
  for (const FlagInfo& row : allFlags())
    if (row.changes == Changes::Search || (!unit.graphs.empty() && isPlanned(row)))
      json[std::string(row.name)] = valueOf(row, work.flags);
  for (const UnitPart& kernel : unit.kernels) json["kernels"].push_back(kernel.hash);
  for (const UnitPart& graph : unit.graphs) json["graphs"].push_back(graph.hash);
  return sha256Hex(json.dump()).substr(0, 12);
}

}  // namespace

bool isPlanned(const FlagInfo& row) {
  return (row.commands & Tune) != 0 && (row.changes == Changes::Output || row.changes == Changes::Search);
}

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
                     {"graphs", work.graphs},     {"flags", flagsJson(work.flags)},
                     {"files", work.files},       {"target", work.target},
                     {"compiler", work.compiler}, {"seconds", work.seconds},
                     {"units", std::move(units)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TuneWork> readTuneWork(const std::string& folder) {
  const std::string path = planPath(folder);
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

std::vector<std::string> attemptsOf(const std::string& folder, const TuneUnit& unit) {
  return logsOf(unitFolder(folder, unit));
}

Result<std::string> claimAttempt(const std::string& folder, const TuneUnit& unit) {
  std::error_code problem;
  fs::create_directories(unitFolder(folder, unit), problem);
  if (problem) return fail(ioError("cannot create", unitFolder(folder, unit), problem.value()));
  for (int number = 1;; ++number) {
    const std::string path = attemptPath(folder, unit, number);
    // Creating it is what makes it ours: also on a network file system, one of all that try succeeds.
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return fail(ioError("cannot create", path, errno));
    ::close(file);
    return path;
  }
}

std::string codeFolder(const std::string& folder, const TuneUnit& unit) { return unitFolder(folder, unit) + "/code"; }

Status markDone(const std::string& folder, const TuneUnit& unit, const std::string& attempt) {
  SVOD_TRY(const std::string text, doneText(attempt));
  return writeFileAtomic(donePath(folder, unit), text);
}

std::string_view nameOf(UnitState state) {
  constexpr std::string_view kNames[] = {"open", "started", "done", "damaged"};
  return kNames[static_cast<size_t>(state)];
}

UnitState stateOf(const std::string& folder, const TuneUnit& unit) {
  std::error_code ignored;
  if (!fs::exists(donePath(folder, unit), ignored))
    return attemptsOf(folder, unit).empty() ? UnitState::Open : UnitState::Started;
  const Result<std::string> done = readWholeFile(donePath(folder, unit), kMaxDoneBytes);
  // The attempt that ended it goes on from those before it: none of them may be missing.
  for (int number = 1; done && fs::exists(attemptPath(folder, unit, number), ignored); ++number)
    if (doneText(attemptPath(folder, unit, number)) == *done) return UnitState::Done;
  return UnitState::Damaged;
}

Result<std::string> hashOfFile(const std::string& path) {
  SVOD_TRY(const MappedFile file, MappedFile::open(path));
  return sha256Hex(file.bytes());
}

std::vector<std::string> logsIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& unit : fs::directory_iterator(folder + "/units", ignored))
    std::ranges::copy(logsOf(unit.path().string()), std::back_inserter(paths));
  std::ranges::sort(paths);
  return paths;
}

}  // namespace svod
