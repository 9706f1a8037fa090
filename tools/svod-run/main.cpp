// svod-run: runs a plan on .npy files. Written against svod/runtime.h alone, as any application could be.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <new>

#include "c_call.h"
#include "console/console.h"
#include "console/process.h"
#include "data/atomic_write.h"
#include "data/distinct.h"
#include "dumps.h"
#include "explain.h"
#include "options.h"
#include "profile_report.h"
#include "reference.h"
#include "run_gaps.h"
#include "session.h"
#include "summary.h"
#include "support/text.h"

namespace svod {
namespace {

using Json = nlohmann::ordered_json;

/// The file of every output that is to be written, by output index; "" for none.
Result<std::vector<std::string>> outputFiles(const Session& session, const RunOptions& options) {
  std::vector<std::string> files(session.outputs().size());
  std::map<std::string, std::string> owner;
  for (size_t i = 0; i < files.size(); i++) {
    const std::string& name = session.outputs()[i].name;
    for (const NameValue& output : options.outputs)
      if (output.first == name) files[i] = output.second;
    if (options.outputDir.empty()) continue;
    files[i] = options.outputDir + "/" + outputFileName(name);
    const auto [other, isNew] = owner.emplace(files[i], name);
    if (!isNew)
      return fail(Diag::Usage,
                  "outputs '" + other->second + "' and '" + name + "' would both be written to '" + files[i] + "'",
                  "name their files with --output");
  }
  return files;
}

/// All that a run writes goes to places of its own.
Status checkResults(const Session& session, const std::vector<std::string>& files, const RunOptions& options) {
  std::vector<ResultFile> results;
  for (size_t i = 0; i < files.size(); i++) results.push_back({"output '" + session.outputs()[i].name + "'", files[i]});
  for (const NameValue& dump : options.dumps) results.push_back({"--dump " + dump.first, dump.second});
  results.push_back({"--save-state", options.saveState});
  results.push_back({"--trace", options.trace});
  return checkDistinct(results);
}

Status writeToStandardOutput(const OutputArray& output) {
  const std::string header = npyHeader(output.dtype, output.shape);
  const std::vector<std::byte> items = npyItems(output.dtype, output.shape, output.data);
  const std::span<const std::byte> data = items.empty() ? std::span<const std::byte>(output.data) : items;
  const bool written = std::fwrite(header.data(), 1, header.size(), stdout) == header.size() &&
                       std::fwrite(data.data(), 1, data.size(), stdout) == data.size() && std::fflush(stdout) == 0;
  if (!written) return fail(ioError("cannot write", "standard output", errno));
  return {};
}

/// All files, or with an interrupt none.
Status writeOutputs(const Session& session, const std::vector<std::string>& files, InterruptGuard& interrupts) {
  for (size_t i = 0; i < files.size(); i++)
    if (files[i] == "-") SVOD_CHECK(writeToStandardOutput(session.outputs()[i]));
  return interrupts.place([&]() -> Status {
    for (size_t i = 0; i < files.size(); i++) {
      const OutputArray& output = session.outputs()[i];
      if (files[i] != "-" && !files[i].empty()) SVOD_CHECK(writeNpy(files[i], output.dtype, output.shape, output.data));
    }
    return {};
  });
}

struct Timings {
  std::vector<double> seconds;  // of every run, sorted
  StepNames names;              // where there is a profile, and the two that follow
  ProfileHistory rows;
  RunGaps gaps;
};

uint64_t nanosecondsOf(std::chrono::steady_clock::time_point time) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
}

Result<Timings> runAll(Session& session, const RunOptions& options) {
  SVOD_TRY(const StepNames names, stepNames(options.plan, options.profileBy));
  Timings timings{{}, names, ProfileHistory(names), RunGaps(session.traceEvents())};
  for (int64_t i = 0; i < options.repeat; i++) {
    const auto start = std::chrono::steady_clock::now();
    SVOD_CHECK(session.runOnce(static_cast<uint64_t>(options.orderSeed)));
    const auto end = std::chrono::steady_clock::now();
    timings.seconds.push_back(std::chrono::duration<double>(end - start).count());
    if (session.traceEvents() > 0) timings.gaps.add(session.instance(), nanosecondsOf(start), nanosecondsOf(end));
    if (options.repeat > 1) timings.rows.add(session.instance());
  }
  std::sort(timings.seconds.begin(), timings.seconds.end());
  return timings;
}

Json reportJson(const Session& session, const Timings& timings, const std::vector<std::string>& files,
                const std::vector<Agreement>& agreements, const Dumps& dumps) {
  const std::vector<double>& sorted = timings.seconds;
  const svod_plan_info info = session.info();
  Json json = {{"plan", info.name}, {"threads", session.threads()}, {"variables", Json::object()}};
  for (const auto& [name, value] : session.variables()) json["variables"][name] = value;
  json["devices"] = session.devices();
  json["runs"] = sorted.size();
  json["seconds"] = {{"min", sorted.front()}, {"median", sorted[sorted.size() / 2]}, {"max", sorted.back()}};
  json["memory"] = {{"arenaBytes", info.arena_bytes},
                    {"stateBytes", info.state_bytes},
                    {"constantBytes", info.constant_bytes},
                    {"instanceBytes", session.instanceBytes()}};
  json["outputs"] = Json::array();
  for (size_t i = 0; i < files.size(); i++) {
    json["outputs"].push_back(summaryJson(session.outputs()[i]));
    if (!files[i].empty()) json["outputs"].back()["file"] = files[i];
    if (!agreements.empty()) json["outputs"].back()["reference"] = agreementJson(agreements[i]);
  }
  json["intermediates"] = dumps.json();
  json["profile"] = profileJson(profileRows(session.instance(), timings.names, &timings.rows));
  if (const std::optional<ProfileRow> gap = gapRow(timings.gaps)) json["betweenKernels"] = profileJson({*gap})[0];
  return json;
}

/// What a run with drawn inputs was.
std::string randomText(const Session& session, const RunOptions& options) {
  std::string sizes;
  for (const auto& [name, value] : session.variables()) sizes += ", " + printable(name) + "=" + std::to_string(value);
  return "inputs drawn from seed " + std::to_string(options.seed) + sizes + "\n";
}

/// Everything for people.
std::string reportText(const Session& session, const RunOptions& options, const Timings& timings, bool written,
                       const std::vector<Agreement>& agreements, const Dumps& dumps, size_t columns) {
  const std::vector<double>& sorted = timings.seconds;
  std::string text;
  if (options.random) text += randomText(session, options);
  if (!written)
    for (const OutputArray& output : session.outputs()) text += summaryText(output);
  text += dumps.text();
  if (!agreements.empty()) text += agreementText(agreements);
  if (options.repeat > 1)
    text += std::to_string(sorted.size()) + " runs: min " + durationText(sorted.front()) + ", median " +
            durationText(sorted[sorted.size() / 2]) + ", max " + durationText(sorted.back()) + "\n";
  if (options.profile) {
    constexpr const char* kTitles[] = {"kernel", "value", "layer"};
    text += profileText(profileRows(session.instance(), timings.names, &timings.rows),
                        kTitles[static_cast<size_t>(options.profileBy)], gapRow(timings.gaps), columns);
  }
  return text;
}

Status makeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(ioError("cannot create", path, error.value()));
  return {};
}

Status run(const RunOptions& options, Console& console, InterruptGuard& interrupts) {
  if (options.explain) {
    SVOD_TRY(Explanation explained, explanation(options));
    SVOD_CHECK(console.print(explained.text));
    return std::move(explained.devices);
  }
  SVOD_TRY(Session session, Session::open(options));
  for (const std::string& note : session.notes()) console.note({Diag::CpuFeatures, note});
  SVOD_TRY(const std::vector<std::string> files, outputFiles(session, options));
  SVOD_CHECK(checkResults(session, files, options));
  if (!options.outputDir.empty()) SVOD_CHECK(makeFolder(options.outputDir));
  SVOD_TRY(const Dumps dumps, Dumps::open(session, options.dumps));
  SVOD_TRY(const Timings timings, runAll(session, options));
  SVOD_CHECK(session.cutOutputs());
  SVOD_CHECK(writeOutputs(session, files, interrupts));
  if (!options.dumps.empty()) SVOD_CHECK(interrupts.place([&] { return dumps.write(); }));
  if (!options.saveState.empty()) SVOD_CHECK(interrupts.place([&] { return session.saveStates(options.saveState); }));
  if (!options.trace.empty())
    SVOD_CHECK(interrupts.place([&] { return writeFileAtomic(options.trace, traceJson(session.instance())); }));
  const bool written = std::any_of(files.begin(), files.end(), [](const std::string& file) { return !file.empty(); });
  std::vector<Agreement> rows;
  if (!options.reference.empty())
    rows = compareWithReferences(session.outputs(), options.reference, options.rtol, options.atol);
  SVOD_CHECK(console.print(
      options.json
          ? reportJson(session, timings, files, rows, dumps).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
          : reportText(session, options, timings, written, rows, dumps, static_cast<size_t>(console.outputWidth()))));
  return statusOf(rows);
}

/// Those of kinds whose library is named, without such a name those of all. Errors: that of the first kind, where no
/// kind has any.
Status listDevices(const RunOptions& options, Console& console) {
  const std::vector<svod_device_option> given = deviceOptions(options);
  const std::pair<const char*, bool> kinds[] = {{"cuda", !options.cudaDriver.empty()},
                                                {"opencl", !options.openclLoader.empty()},
                                                {"webgpu", !options.webgpuLibrary.empty()}};
  const bool isNamed = std::ranges::any_of(kinds, [](const auto& kind) { return kind.second; });
  std::string all;
  Status trouble;
  for (const auto& [kind, isAsked] : kinds) {
    if (isNamed && !isAsked) continue;
    std::string text(size_t{64} << 10, '\0');
    Status listed = checked([&](svod_error* error) {
      return svod_list_devices(kind, given.data(), given.size(), text.data(), text.size(), error);
    });
    if (listed)
      all += text.c_str();
    else if (trouble)
      trouble = std::move(listed);
  }
  return all.empty() && !trouble ? std::move(trouble) : console.print(all);
}

bool isSet(const char* variable) { return variable != nullptr && *variable != '\0'; }

}  // namespace
}  // namespace svod

int main(int argc, char** argv) {
  svod::prepareProcess();
  const auto options = svod::parseOptions({argv + 1, argv + argc});
  const bool noColor = svod::isSet(std::getenv("NO_COLOR"));
  svod::Console console({noColor, options && options->diagnostics == "json", options && options->dataOnStdout()});
  if (!options) return console.finish(options.error());
  if (options->help || options->version) {
    const svod::Status shown = console.print(options->help ? svod::helpText() : "svod-run " SVOD_VERSION "\n");
    return shown ? 0 : console.finish(shown.error());
  }
  svod::InterruptGuard interrupts(console);
  try {
    const svod::Status status =
        options->listDevices ? svod::listDevices(*options, console) : svod::run(*options, console, interrupts);
    if (status) return 0;
    interrupts.beforeError();
    return console.finish(status.error());
  } catch (const std::bad_alloc&) {
    return console.finish({svod::Diag::DeviceFailure, "out of memory", "use smaller shapes"});
  }
}
