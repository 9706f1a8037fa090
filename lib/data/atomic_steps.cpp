#include "data/atomic_steps.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "data/mapped_file.h"

namespace svod::detail {

std::string withoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string text = real;
  ::free(real);
  return text;
}

int createFile(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }

namespace {

Status writeAll(int fd, Chunks chunks, const std::string& path) {
  for (std::span<const std::byte> bytes : chunks) {
    while (!bytes.empty()) {
      ssize_t wrote = ::write(fd, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return fail(ioError("cannot write", path, errno));
      bytes = bytes.subspan(static_cast<size_t>(wrote));
    }
  }
  return {};
}

}  // namespace

Status fillAndClose(int fd, Chunks chunks, const std::string& path, Flush flush) {
  Status status = writeAll(fd, chunks, path);
  if (status && flush == Flush::BeforeRename && ::fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    status = fail(ioError("cannot write", path, errno));
  if (::close(fd) != 0 && status) status = fail(ioError("cannot write", path, errno));
  return status;
}

void flushFolder(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

int renamed(const std::string& from, const std::string& to, Taken taken) {
  const auto flags = static_cast<unsigned>(taken);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags));
}

}  // namespace svod::detail
