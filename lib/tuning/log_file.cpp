#include "tuning/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "data/mapped_file.h"

namespace svod {

namespace {

constexpr uint64_t kMaxLogBytes = uint64_t{1} << 30;

/// Whether the last byte is there and no line end.
bool isTorn(int file) {
  struct stat about = {};
  char last = '\n';
  if (::fstat(file, &about) != 0 || about.st_size == 0) return false;
  return ::pread(file, &last, 1, about.st_size - 1) == 1 && last != '\n';
}

}  // namespace

Result<TuningLog> readTuningLog(const std::string& path, UnreadLines& unread) {
  SVOD_TRY(const std::string text, readWholeFile(path, kMaxLogBytes));
  Result<TuningLog> log = parseTuningLog(text, unread);
  if (!log) return fail(std::move(log.error()).withNote("in '" + path + "'"));
  return log;
}

LogAppender::LogAppender(LogAppender&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

LogAppender& LogAppender::operator=(LogAppender&& other) noexcept {
  std::swap(file_, other.file_), std::swap(path_, other.path_);
  return *this;
}

LogAppender::~LogAppender() {
  if (file_ >= 0) ::close(file_);
}

Result<LogAppender> LogAppender::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return fail(ioError("cannot open", path, errno));
  LogAppender appender(file, path);
  struct stat about = {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    return fail(Diag::Io, "'" + path + "' is no regular file", "name another file for the tuning log");
  if (isTorn(file)) SVOD_CHECK(appender.write("\n"));
  return appender;
}

Status LogAppender::append(const TuningRecord& record) { return write(toLine(record) + "\n"); }

Status LogAppender::write(const std::string& text) {
  ssize_t written;
  do written = ::write(file_, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) return fail(ioError("cannot write", path_, errno));
  if (static_cast<size_t>(written) < text.size()) return fail(ioError("cannot write", path_, ENOSPC));
  return {};
}

Status LogAppender::flush() {
  if (::fdatasync(file_) != 0) return fail(ioError("cannot write", path_, errno));
  return {};
}

}  // namespace svod
