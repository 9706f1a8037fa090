#include "data/temporary.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

namespace svod {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";

/// Whether `name` is `base`, the mark, digits, a dash, digits.
bool isTemporaryOf(std::string_view name, std::string_view base) {
  if (!name.starts_with(base) || !name.substr(base.size()).starts_with(kMark)) return false;
  name.remove_prefix(base.size() + kMark.size());
  const size_t dash = name.find('-');
  const auto isNumber = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  return dash != name.npos && isNumber(name.substr(0, dash)) && isNumber(name.substr(dash + 1));
}

int openForLock(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

bool isStillNamed(int fd, const std::string& path) {
  struct stat open = {}, named = {};
  return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

enum class Lock : uint8_t { Held, Taken, Impossible };

/// Taken: by somebody else, or it is gone. `fd` is open for as long as the lock is held.
Lock tryLock(const std::string& path, int& fd) {
  fd = openForLock(path);
  if (fd < 0) return errno == ENOENT ? Lock::Taken : Lock::Impossible;
  Lock result = Lock::Held;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) result = errno == EWOULDBLOCK ? Lock::Taken : Lock::Impossible;
  if (result == Lock::Held && !isStillNamed(fd, path)) result = Lock::Taken;
  if (result == Lock::Held) return result;
  ::close(fd);
  fd = -1;
  return result;
}

bool holdsOnlyFiles(const std::string& folder, int levels) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::file_status status = entry->symlink_status(error);
    const bool isFolder = fs::is_directory(status) && levels > 0 && holdsOnlyFiles(entry->path().string(), levels - 1);
    if (error || (!fs::is_regular_file(status) && !isFolder)) return false;
  }
  return !error;
}

}  // namespace

std::string folderOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Temporary::~Temporary() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  for (int fd : {lock_, otherLock_})
    if (fd >= 0) ::close(fd);
}

bool Temporary::createBeside(const std::string& path, const std::function<bool(const std::string&)>& create) {
  for (int attempt = 0; attempt < 1000; attempt++) {
    const std::string name = path + std::string(kMark) + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    if (create(name)) {
      // Somebody who clears up may have come first; then it is theirs to remove.
      if (tryLock(name, lock_) == Lock::Taken) continue;
      path_ = name;
      return true;
    }
    if (errno != EEXIST) return false;
  }
  errno = EEXIST;
  return false;
}

void Temporary::alsoLock(const std::string& path) { (void)tryLock(path, otherLock_); }

void removeAbandoned(const std::string& path, int levels) {
  std::vector<std::string> names;
  std::error_code error;
  const std::string base = path.substr(path.find_last_of('/') + 1);
  for (fs::directory_iterator entry(folderOf(path), error), end; !error && entry != end; entry.increment(error))
    if (isTemporaryOf(entry->path().filename().string(), base)) names.push_back(entry->path().string());
  std::ranges::sort(names);
  for (const std::string& name : names) {
    int fd = -1;
    struct stat status = {};
    const bool isOurs = ::lstat(name.c_str(), &status) == 0 &&
                        (S_ISREG(status.st_mode) || (S_ISDIR(status.st_mode) && holdsOnlyFiles(name, levels)));
    if (!isOurs || tryLock(name, fd) != Lock::Held) continue;
    fs::remove_all(name, error);
    ::close(fd);
  }
}

}  // namespace svod
