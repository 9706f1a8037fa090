#include "tuning/log_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <thread>
#include <tuple>
#include <utility>

#include "data/atomic_write.h"
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

/// Of a text without records: whether there is more in it than the beginning of one.
bool isSomethingElse(std::string_view text, const UnreadLines& unread) {
  constexpr std::string_view kBegin = "{\"svod-tuning\":";
  const std::string_view torn = text.substr(text.rfind('\n') + 1);
  return !unread.malformed.empty() || !torn.starts_with(kBegin.substr(0, torn.size()));
}

/// Until nobody holds it in another way. `how`: of flock().
Status lock(int file, int how, const std::string& path, const LogLimits& limits) {
  using Clock = std::chrono::steady_clock;
  const std::string holder = "another program holds a lock on '" + path + "'";
  const std::string most = std::to_string(std::lround(limits.waitSeconds)) + " s";
  const std::string help =
      how == LOCK_SH ? "it may be `flock` around svodc: leave that out, any number of processes may share a log"
                     : "it may be svodc tune, which appends to it: wait for its end, or name another --output";
  const Clock::time_point start = Clock::now();
  for (bool isSaid = false; ::flock(file, how | LOCK_NB) != 0;) {
    if (errno != EINTR && errno != EWOULDBLOCK) return {};  // a file system without locks
    const double waited = std::chrono::duration<double>(Clock::now() - start).count();
    if (waited >= limits.quietSeconds && !std::exchange(isSaid, true) && limits.says)
      limits.says({Diag::Io, holder + ": waiting for " + most + " at most", help});
    if (waited >= limits.waitSeconds) return fail(Diag::Io, holder + " for more than " + most, help);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

bool isNamed(int file, const std::string& path) {
  struct stat about = {}, named = {};
  return ::fstat(file, &about) == 0 && ::stat(path.c_str(), &named) == 0 && named.st_ino == about.st_ino &&
         named.st_dev == about.st_dev;
}

}  // namespace

Result<TuningLog> readTuningLog(const std::string& path, UnreadLines& unread) {
  SVOD_TRY(const std::string text, readWholeFile(path, kMaxLogBytes));
  Result<TuningLog> log = parseTuningLog(text, unread);
  if (!log) return fail(std::move(log.error()).withNote("in '" + path + "'"));
  if (*log == TuningLog() && isSomethingElse(text, unread))
    return fail(Diag::Syntax, "'" + path + "' is no tuning log: not one of its lines is a record",
                "name a tuning log; svodc tune makes one where there is no file yet");
  return log;
}

LogAppender::LogAppender(LogAppender&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)), limits_(std::move(other.limits_)),
      appended_(other.appended_) {}

LogAppender& LogAppender::operator=(LogAppender&& other) noexcept {
  std::swap(file_, other.file_), std::swap(path_, other.path_);
  std::swap(limits_, other.limits_), std::swap(appended_, other.appended_);
  return *this;
}

LogAppender::~LogAppender() { close(); }

void LogAppender::close() {
  if (file_ < 0) return;
  ::flock(file_, LOCK_UN);  // children of this process have the file, too
  ::close(std::exchange(file_, -1));
}

Result<LogAppender> LogAppender::open(const std::string& path, const LogLimits& limits) {
  LogAppender appender(path, limits);
  SVOD_CHECK(appender.reopen());
  SVOD_CHECK(appender.shorten());
  if (isTorn(appender.file_)) SVOD_CHECK(appender.write("\n"));
  return appender;
}

Status LogAppender::reopen() {
  for (;;) {
    close();
    file_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file_ < 0) return fail(ioError("cannot open", path_, errno));
    struct stat about = {};
    if (::fstat(file_, &about) != 0 || !S_ISREG(about.st_mode))
      return fail(Diag::Io, "'" + path_ + "' is no regular file", "name another file for the tuning log");
    SVOD_CHECK(lock(file_, LOCK_SH, path_, limits_));
    if (isNamed(file_, path_)) return {};  // whoever held it alone may have put another one in its place
  }
}

Status LogAppender::append(const TuningRecord& record) {
  const std::string line = toLine(record) + "\n";
  if (!isNamed(file_, path_)) SVOD_CHECK(reopen());  // somebody moved or removed it: what comes has a file again
  SVOD_CHECK(write(line));
  appended_ += line.size();
  if (appended_ < limits_.every) return {};
  appended_ = 0;
  return shorten();
}

Status LogAppender::shorten() {
  struct stat about = {};
  if (::fstat(file_, &about) != 0 || static_cast<uint64_t>(about.st_size) <= limits_.bytes) return {};
  if (about.st_nlink > 1) return {};  // its other names would stay with the old one
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) {
    UnreadLines unread;
    const Result<TuningLog> log = readTuningLog(path_, unread);
    // Where nothing can be put in its place, as in folders of others, it stays as long as it is.
    if (log && unread.malformed.empty() && !unread.tornEnd)
      std::ignore = writeFileAtomic(path_, toText(pruned(*log, limits_.fastest)));
  }
  return reopen();
}

Status LogAppender::write(const std::string& text) {
  ssize_t written;
  do written = ::write(file_, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) return fail(ioError("cannot write", path_, errno));
  if (static_cast<size_t>(written) < text.size()) return fail(ioError("cannot write", path_, ENOSPC));
  return {};
}

Result<LogAlone> LogAlone::of(const std::string& path, const LogLimits& limits) {
  for (;;) {
    LogAlone alone;
    alone.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (alone.file_ < 0) return fail(ioError("cannot open", path, errno));
    SVOD_CHECK(lock(alone.file_, LOCK_EX, path, limits));
    if (isNamed(alone.file_, path)) return alone;
  }
}

LogAlone::~LogAlone() {
  if (file_ >= 0) ::close(file_);
}

Status LogAppender::flush() {
  if (::fdatasync(file_) != 0) return fail(ioError("cannot write", path_, errno));
  return {};
}

}  // namespace svod
