// The file of a tuning log.
#pragma once
#include <functional>
#include <string>
#include <utility>

#include "tuning/log.h"

namespace svod {

/// Errors: Io; Syntax for a file with text and not one record, which is something else; Unsupported for records of a
/// later form.
Result<TuningLog> readTuningLog(const std::string& path, UnreadLines& unread);

/// When a log that one process appends to is written anew, and what of it stays; how long another program may lock it.
struct LogLimits {
  uint64_t bytes = 4'000'000;  // a longer one is merged, and pruned
  uint64_t every = 1'000'000;  // bytes that were appended since it was looked at
  size_t fastest = 64;         // as of pruned() (log.h)
  double quietSeconds = 1, waitSeconds = 30;
  std::function<void(const Error&)> says = {};  // called after quietSeconds of waiting
};

/// Appends records. Each is one write at the end of the file, so processes that share a log do not tear the lines of
/// each other, and what was appended survives the end of the process. A log that is or grows longer than `limits` is
/// replaced by what merging it gives, without slow lists, unless another process appends to it as well, it has several
/// names (hard links), or it holds lines that are no records.
class LogAppender {
 public:
  LogAppender(LogAppender&& other) noexcept;
  LogAppender& operator=(LogAppender&& other) noexcept;
  ~LogAppender();

  /// Makes the file where there is none. A torn last line is ended, so that the next record has a line of its own.
  /// Errors: Io, also where another program locks the file for too long.
  static Result<LogAppender> open(const std::string& path, const LogLimits& limits = {});

  Status append(const TuningRecord& record);
  /// Has the system put all of it on the disk.
  Status flush();

 private:
  LogAppender(std::string path, const LogLimits& limits) : path_(std::move(path)), limits_(limits) {}
  Status reopen();
  Status write(const std::string& text);
  Status shorten();
  void close();

  int file_ = -1;  // locked, shared, as long as it is open
  std::string path_;
  LogLimits limits_;
  uint64_t appended_ = 0;  // bytes since it was looked at
};

/// A log that there is, for whoever puts another one in its place: as long as this lives nobody appends to it. Errors:
/// Io, also where another program holds it for too long.
class LogAlone {
 public:
  static Result<LogAlone> of(const std::string& path, const LogLimits& limits = {});
  LogAlone(LogAlone&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  LogAlone& operator=(LogAlone&&) = delete;
  ~LogAlone();

 private:
  LogAlone() = default;
  int file_ = -1;
};

}  // namespace svod
