#include "data/mapped_file.h"
#include "support/says.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace svod {

namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// A regular file: a pipe would make open wait for somebody who writes to it, and a device may have no end.
Result<struct stat> openForReading(const std::string& path, Descriptor& file) {
  file.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file.fd < 0) return fail(ioError("cannot open", path, errno));
  struct stat status{};
  if (::fstat(file.fd, &status) != 0) return fail(ioError("cannot read", path, errno));
  if (S_ISDIR(status.st_mode)) return fail(ioError("cannot read", path, EISDIR));
  if (!S_ISREG(status.st_mode))
    return fail(Diag::Io, says({"cannot read '", path, "': not a regular file"}), "copy it to a file first");
  return status;
}

}  // namespace

namespace {

struct IoHelp {
  int error;
  const char* help;
};
constexpr IoHelp kIoHelps[] = {
    {ENOSPC, "free some space or write to another disk"},
    {EDQUOT, "free some space or write to another disk"},
    {EACCES, "check the permissions of the file and of its directory"},
    {EPERM, "check the permissions of the file and of its directory"},
    {ENOENT, "check that the path exists"},
    {EISDIR, "name a file, not a directory"},
    {ENOTDIR, "a part of the path is a file, where a directory is needed: name another place"},
    {ENAMETOOLONG, "use a shorter name"},
    {ELOOP, "the path holds a circle of symbolic links: name a file"},
    {EROFS, "the file system is read-only: name another place"},
    {EFBIG, "the limit on file sizes is reached: ulimit -f shows it"},
    {EMFILE, "the limit on open files is reached: ulimit -n shows it"},
    {EEXIST, "choose another name, or remove what stands there"},
    {ENOMEM, "memory ran out: use smaller files or shapes"},
};

}  // namespace

#ifdef __GLIBC__
// What POSIX calls strerror_r, which GNU's is not. Other C libraries have this name too, and link the same object.
extern "C" int __xpg_strerror_r(int number, char* text, size_t room) noexcept;
#endif

namespace {

void writeText(int errnoValue, char* text, size_t room) {
#ifdef __GLIBC__
  __xpg_strerror_r(errnoValue, text, room);
#else
  static_cast<void>(::strerror_r(errnoValue, text, room));
#endif
}

}  // namespace

Error ioError(const std::string& action, const std::string& path, int errnoValue) {
  char buffer[128] = "";
  writeText(errnoValue, buffer, sizeof buffer);
  const auto* row = std::ranges::find(kIoHelps, errnoValue, &IoHelp::error);
  std::string help = row == std::end(kIoHelps) ? "check the path, and the file system it is on" : row->help;
  return Error(Diag::Io, says({action, " '", path, "': ", buffer}), help);
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
  SVOD_TRY(struct stat status, openForReading(path, file));
  MappedFile mapped;
  if (status.st_size == 0) return mapped;
  void* data = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) return fail(ioError("cannot map", path, errno));
  mapped.data_ = static_cast<const std::byte*>(data);
  mapped.size_ = static_cast<uint64_t>(status.st_size);
  return mapped;
}

namespace {

Error tooLong(const std::string& path, uint64_t limit) {
  return {Diag::Io, "cannot read '" + path + "': larger than " + std::to_string(limit) + " bytes",
          "check that it is the right file"};
}

/// What can be read from `fd`, appended to `text`; errors name `path`.
Result<std::string> readToEnd(int fd, const std::string& path, uint64_t limit, std::string text) {
  char chunk[16384];
  for (;;) {
    ssize_t got = ::read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ioError("cannot read", path, errno));
    if (got == 0) return text;
    if (text.size() + static_cast<uint64_t>(got) > limit) return fail(tooLong(path, limit));
    text.append(chunk, static_cast<size_t>(got));
  }
}

}  // namespace

Result<std::string> readWholeFile(const std::string& path, uint64_t limit) {
  Descriptor file;
  SVOD_TRY(struct stat status, openForReading(path, file));
  if (static_cast<uint64_t>(status.st_size) > limit) return fail(tooLong(path, limit));
  std::string text;
  text.reserve(static_cast<size_t>(status.st_size));
  return readToEnd(file.fd, path, limit, std::move(text));
}

Result<std::string> readWholeInput(const std::string& path, uint64_t limit) {
  struct stat status{};
  if (path == "-") return readStandardInput(limit);
  if (::stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return readWholeFile(path, limit);
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return fail(ioError("cannot open", path, errno));
  // Without a writer a read ends at once. With one, it has bytes or would wait.
  char first = 0;
  ssize_t got = 0;
  for (int tries = 0; tries < 200 && (got = ::read(file.fd, &first, 1)) == 0; ++tries) ::usleep(10000);
  if (got == 0)
    return fail(Diag::Io, "cannot read '" + path + "': nothing writes to this pipe", "start what writes first");
  if (got < 0 && errno != EAGAIN) return fail(ioError("cannot read", path, errno));
  ::fcntl(file.fd, F_SETFL, 0);
  return readToEnd(file.fd, path, limit, std::string(&first, got > 0 ? 1 : 0));
}

Result<std::string> readStandardInput(uint64_t limit) { return readToEnd(STDIN_FILENO, "stdin", limit, {}); }

}  // namespace svod
