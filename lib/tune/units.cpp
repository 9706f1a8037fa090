#include "tune/units.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "data/sha256.h"
#include "driver/tuned_plan.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxDoneBytes = 4096;

std::string unitFolder(const std::string& folder, const TuneUnit& unit) { return folder + "/units/" + unit.hash; }
std::string donePath(const std::string& folder, const TuneUnit& unit) { return unitFolder(folder, unit) + "/done"; }
std::string attemptPath(const std::string& folder, const TuneUnit& unit, int number) {
  return unitFolder(folder, unit) + "/attempt-" + std::to_string(number) + ".log";
}

std::string hostPath(const std::string& attempt) { return fs::path(attempt).replace_extension(".host").string(); }

std::string hostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
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

}  // namespace

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
    SVOD_CHECK(writeFileAtomic(hostPath(path), hostName() + "\n"));
    return path;
  }
}

AttemptTrace traceOf(const std::string& attempt) {
  AttemptTrace trace;
  if (Result<std::string> host = readWholeFile(hostPath(attempt), kMaxDoneBytes))
    trace.host = host->substr(0, host->find('\n'));
  std::error_code problem;
  const fs::file_time_type written = fs::last_write_time(attempt, problem);
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::now() - written);
  if (!problem) trace.age = std::max<int64_t>(0, since.count());  // clocks of machines differ
  return trace;
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

std::vector<UnitPart> graphsToTune(const std::deque<TuneGraph>& graphs) {
  std::vector<UnitPart> parts;
  for (const TuneGraph& graph : graphs) {
    const BuiltGraph& build = graph.usual;
    if (!build.options.devices.empty() || build.compilation->kernels.empty()) continue;
    std::string hash = graphHash(build.model);
    if (std::ranges::find(parts, hash, &UnitPart::hash) == parts.end()) parts.push_back({std::move(hash), graph.path});
  }
  return parts;
}

Status checkWorkFolder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return {};
  if (fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)) return {};
  const Result<TuneWork> before = readTuneWork(folder);
  if (before) return {};
  return fail(
      Error(Diag::Io, "'" + folder + "' is there, and no folder of tuning work", "name another one, or remove it")
          .withNote(before.error()->message));
}

}  // namespace svod
