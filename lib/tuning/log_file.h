// The file of a tuning log.
#pragma once
#include <string>

#include "tuning/log.h"

namespace svod {

/// Errors: Io; Unsupported for records of a later form.
Result<TuningLog> readTuningLog(const std::string& path, UnreadLines& unread);

/// Appends records. Each is one write at the end of the file, so processes that share a log do not tear the lines of
/// each other, and what was appended survives the end of the process.
class LogAppender {
 public:
  LogAppender(LogAppender&& other) noexcept;
  LogAppender& operator=(LogAppender&& other) noexcept;
  ~LogAppender();

  /// Makes the file where there is none. A torn last line is ended, so that the next record has a line of its own.
  static Result<LogAppender> open(const std::string& path);

  Status append(const TuningRecord& record);
  /// Has the system put all of it on the disk.
  Status flush();

 private:
  LogAppender(int file, std::string path) : file_(file), path_(std::move(path)) {}
  Status write(const std::string& text);

  int file_ = -1;
  std::string path_;
};

}  // namespace svod
