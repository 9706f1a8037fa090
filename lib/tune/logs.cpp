#include "tune/logs.h"

#include <filesystem>
#include <vector>

#include "tune/units.h"

namespace svod {

Result<TuningLog> readTuningLog(const std::string& path, const Warns& warns) {
  UnreadLines unread;
  SVOD_TRY(TuningLog log, readTuningLog(path, unread));
  if (!unread.malformed.empty())
    warns({Diag::Syntax,
           "'" + path + "': " +
               (unread.malformed.size() == 1
                    ? "one line is no record, line "
                    : std::to_string(unread.malformed.size()) + " lines are no records, the first is line ") +
               std::to_string(unread.malformed[0]) + ": " + unread.firstProblem,
           "what is no record is left out; svodc log merge writes a log without it"});
  return log;
}

Result<TuningLog> readAttempts(std::span<const std::string> paths, const Warns& warns) {
  std::vector<TuningLog> logs;
  for (const std::string& path : paths) {
    Result<TuningLog> log = readTuningLog(path, warns);
    if (!log && log.error()->diag != Diag::Syntax) return log;
    if (log)
      logs.push_back(std::move(*log));
    else
      warns(log.error());
  }
  return merged(logs);
}

Result<TuningLog> readLogs(const std::string& path, const Warns& warns) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return readTuningLog(path, warns);
  SVOD_CHECK(readTuneWork(path));  // another folder is none of logs
  return readAttempts(logsIn(path), warns);
}

}  // namespace svod
