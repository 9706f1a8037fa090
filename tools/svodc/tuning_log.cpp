// svodc log merge|stats|best|diff|prune|html LOG..
#include "tuning_log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "driver/applied_log.h"
#include "driver/tuned_opts.h"
#include "print.h"
#include "report/tuning_page.h"
#include "support/suggest.h"
#include "tune/log_tables.h"

namespace svod {

namespace {

using Logs = std::vector<TuningLog>;

Status write(const TuningLog& log, const Request& request, Console& console) {
  const std::string& path = request.flags.output;
  return writeResult(path.empty() ? "-" : path, toText(log), request, console);
}

Status runMerge(const Logs& logs, const Request& request, Console& console) {
  return write(merged(logs), request, console);
}
Status runPrune(const Logs& logs, const Request& request, Console& console) {
  const TuningLog all = merged(logs);
  TuningLog rest = pruned(all);
  rest.gains = gainsOf(appliedLog(all, tuningCompiler()).log);  // what stats tells of them
  return write(rest, request, console);
}
Status runStats(const Logs& logs, const Request& request, Console& console) {
  return printDocument(statsOf(appliedLog(merged(logs), tuningCompiler()), tuningCompiler()), request, console);
}
Status runBest(const Logs& logs, const Request& request, Console& console) {
  return printDocument(bestTable(appliedLog(merged(logs), tuningCompiler()), tuningCompiler()), request, console);
}
Status runDiff(const Logs& logs, const Request& request, Console& console) {
  return printDocument(differences(logs[0], logs[1], tuningCompiler()), request, console);
}

Status runHtml(const Logs& logs, const Request& request, Console& console) {
  const std::string name = logs.size() == 1 ? request.files.at(1) : std::to_string(logs.size()) + " logs";
  const TuningLog log = appliedLog(merged(logs), tuningCompiler()).log;
  const std::string page = toHtml(tuningPage(log, tuningCompiler(), "Tuning: " + name));
  return writeResult(request.flags.output.empty() ? "-" : request.flags.output, page, request, console);
}

/// What a command writes, and how to know it again: what is something else is not replaced.
struct ResultKind {
  std::string_view name;
  bool (*holds)(const std::string& path);
};
bool holdsLog(const std::string& path) {
  UnreadLines unread;
  return readTuningLog(path, unread).has_value();
}
bool holdsPage(const std::string& path) {
  constexpr std::string_view kPageBegin = "<!doctype html>";
  std::string begin(kPageBegin.size(), 0);
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kPageBegin;
}
constexpr ResultKind kLog{"tuning log", holdsLog}, kPage{"page", holdsPage};

struct Action {
  std::string_view name;
  size_t least, most;        // logs
  const ResultKind* writes;  // null: nothing
  Status (*run)(const Logs& logs, const Request& request, Console& console);
};
constexpr Action kActions[] = {
    {"merge", 1, 4095, &kLog, runMerge}, {"stats", 1, 4095, nullptr, runStats}, {"best", 1, 4095, nullptr, runBest},
    {"diff", 2, 2, nullptr, runDiff},    {"prune", 1, 4095, &kLog, runPrune},   {"html", 1, 4095, &kPage, runHtml},
};

/// Nothing may stand where the result goes but an empty file, or an older result.
Status checkOutput(const Action& action, const std::string& path) {
  std::error_code ignored;
  if (path.empty() || path == "-" || !std::filesystem::is_regular_file(path, ignored)) return {};
  if (std::filesystem::file_size(path, ignored) == 0 || action.writes->holds(path)) return {};
  return fail(Diag::Io, "'" + path + "' is there, and no " + std::string(action.writes->name),
              "name another --output, or remove it");
}

Result<const Action*> actionOf(const Request& request) {
  const std::string& name = request.files.at(0);
  std::vector<std::string_view> names;
  for (const Action& action : kActions) names.push_back(action.name);
  const auto found = std::ranges::find(kActions, name, &Action::name);
  if (found == std::end(kActions)) return fail(Diag::Usage, "svodc log cannot '" + name + "'", choicesFor(name, names));
  const size_t count = request.files.size() - 1;
  if (count < found->least || count > found->most)
    return fail(Diag::Usage, "svodc log " + name + " got " + std::to_string(count) + (count == 1 ? " log" : " logs"),
                found->most == 2 ? "it takes two" : "it takes one or more");
  if (found->writes == nullptr && !request.flags.output.empty())
    return fail(Diag::Usage, "svodc log " + name + " writes no file", "leave --output out");
  if (found->writes != nullptr && request.flags.json)
    return fail(Diag::Usage, "svodc log " + name + " has one form", "leave --json out");
  if (found->writes != nullptr) SVOD_CHECK(checkOutput(*found, request.flags.output));
  return &*found;
}

}  // namespace

LogLimits waitingWith(Console& console) {
  LogLimits limits;
  limits.says = [&console](const Error& wait) { console.warn(wait); };
  return limits;
}

Warns warningsOf(Console& console) {
  return [&console](const Error& error) { console.warn(error); };
}

Result<int> runLog(const Request& request, Console& console) {
  SVOD_TRY(const Action* const action, actionOf(request));
  std::optional<LogAlone> alone;  // from before it is read: a tune that appends to it would lose what comes between
  if (std::error_code ignored;
      action->writes == &kLog && std::filesystem::is_regular_file(request.flags.output, ignored)) {
    SVOD_TRY(LogAlone held, LogAlone::of(request.flags.output, waitingWith(console)));
    alone.emplace(std::move(held));
  }
  Logs logs;
  for (size_t i = 1; i < request.files.size(); ++i) {
    SVOD_TRY(TuningLog log, readLogs(request.files[i], warningsOf(console)));
    logs.push_back(std::move(log));
  }
  SVOD_CHECK(action->run(logs, request, console));
  return 0;
}

}  // namespace svod
