#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace svod {

namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Result<struct stat> openForReading(const std::string& path, Descriptor& file, int flags = 0) {
  file.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (file.fd < 0) return fail(ioError("cannot open", path, errno));
  struct stat status{};
  if (::fstat(file.fd, &status) != 0) return fail(ioError("cannot read", path, errno));
  if (S_ISDIR(status.st_mode)) return fail(ioError("cannot read", path, EISDIR));
  return status;
}

}  // namespace

Error ioError(const std::string& action, const std::string& path, int errnoValue) {
  char buffer[128];
  // The GNU strerror_r may return a static text instead of filling the buffer.
  std::string text = ::strerror_r(errnoValue, buffer, sizeof buffer);
  std::string help;
  if (errnoValue == ENOSPC || errnoValue == EDQUOT) help = "free some space or write to another disk";
  if (errnoValue == EACCES || errnoValue == EPERM) help = "check the permissions of the file and of its directory";
  if (errnoValue == ENOENT) help = "check that the path exists";
  if (errnoValue == EISDIR) help = "name a file, not a directory";
  return Error{Diag::Io, action + " '" + path + "': " + text, help, {}, {}};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<std::byte*>(data_), size_);
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  Descriptor file;
  // A pipe would make open wait for somebody who writes to it.
  SVOD_TRY(struct stat status, openForReading(path, file, O_NONBLOCK));
  if (!S_ISREG(status.st_mode))
    return fail(Diag::Io, "cannot map '" + path + "': not a regular file", "copy it to a file first");
  MappedFile mapped;
  if (status.st_size == 0) return mapped;
  void* data = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) return fail(ioError("cannot map", path, errno));
  mapped.data_ = static_cast<const std::byte*>(data);
  mapped.size_ = static_cast<uint64_t>(status.st_size);
  return mapped;
}

Result<std::string> readWholeFile(const std::string& path, uint64_t limit) {
  Descriptor file;
  SVOD_TRY(struct stat status, openForReading(path, file));
  std::string text;
  if (S_ISREG(status.st_mode) && static_cast<uint64_t>(status.st_size) <= limit) text.reserve(status.st_size);
  char chunk[16384];
  for (;;) {
    ssize_t got = ::read(file.fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ioError("cannot read", path, errno));
    if (got == 0) return text;
    if (text.size() + static_cast<uint64_t>(got) > limit)
      return fail(Diag::Io, "cannot read '" + path + "': larger than " + std::to_string(limit) + " bytes");
    text.append(chunk, static_cast<size_t>(got));
  }
}

}  // namespace svod
