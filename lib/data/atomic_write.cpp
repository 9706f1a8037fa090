#include "data/atomic_write.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "data/atomic_steps.h"
#include "data/mapped_file.h"
#include "data/temporary.h"

namespace svod {

using namespace detail;

namespace {

/// Gives a new file the mode of the one that it will replace, and owner and group where that is allowed.
void makeLike(int fd, const std::string& target) {
  struct stat old{};
  if (::stat(target.c_str(), &old) != 0) return;
  mode_t mode = old.st_mode & 0777;
  if (::fchown(fd, old.st_uid, old.st_gid) != 0 && ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0)
    mode &= ~S_IRWXG | (mode & S_IRWXO) << 3;  // what the old group might do is not for another one
  (void)::fchmod(fd, mode);
}

/// A filled file beside `target`; errors name `shown`.
Status fillBeside(const std::string& target, Temporary& temporary, Chunks chunks, const std::string& shown,
                  Flush flush) {
  int fd = -1;
  const auto create = [&](const std::string& name) {
    if (fd >= 0) ::close(fd);
    return (fd = createFile(name)) >= 0;
  };
  if (!temporary.createBeside(target, create)) return fail(ioError("cannot write", shown, errno));
  makeLike(fd, target);
  return fillAndClose(fd, chunks, shown, flush);
}

// A pipe that nobody reads would be waited for without end.
Status writeDirectly(const std::string& path, Chunks chunks) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENXIO)
    return fail(ioError("cannot write", path, errno).withHelp("start what reads from it first, or name a file"));
  if (fd < 0 || ::fcntl(fd, F_SETFL, 0) != 0) return fail(ioError("cannot write", path, errno));
  return fillAndClose(fd, chunks, path, Flush::Sometime);
}

}  // namespace

Status writeChunksAtomic(const std::string& path, Chunks chunks, Flush flush) {
  const std::string target = resolved(path);
  struct stat status{};
  if (::stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return fail(ioError("cannot write", path, EISDIR));
    if (!S_ISREG(status.st_mode)) return writeDirectly(path, chunks);
  }
  Temporary temporary;
  SVOD_CHECK(fillBeside(target, temporary, chunks, path, flush));
  if (::rename(temporary.path().c_str(), target.c_str()) != 0) return fail(ioError("cannot write", path, errno));
  temporary.release();
  if (flush == Flush::Sometime) return {};
  flushFolder(folderOf(target));
  removeAbandoned(target);
  return {};
}

Status writeFileAtomic(const std::string& path, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text.data(), text.size()));
  return writeChunksAtomic(path, Chunks(&bytes, 1));
}

bool holdsChunks(const std::string& path, Chunks chunks) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return false;
  std::span<const std::byte> rest = file->bytes();
  for (std::span<const std::byte> chunk : chunks) {
    if (chunk.empty()) continue;
    if (chunk.size() > rest.size() || std::memcmp(chunk.data(), rest.data(), chunk.size()) != 0) return false;
    rest = rest.subspan(chunk.size());
  }
  return rest.empty();
}

Status checkFolderOf(const std::string& path) {
  const std::string target = resolved(withoutTrailingSlashes(path)), folder = folderOf(target);
  struct stat status{};
  if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return {};
  int error = ::stat(folder.c_str(), &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  if (error == ENOENT) return fail(ioError("cannot create", path, error).withHelp("make the folder '" + folder + "'"));
  if (error == 0 && ::access(folder.c_str(), W_OK | X_OK) != 0) error = errno;
  if (error != 0) return fail(ioError("cannot create", path, error));
  return {};
}

namespace {

/// A filled temporary file that is put in the place of another one, and can be taken back.
struct Replacement {
  std::string target;
  Temporary temporary;  // the new file, and once placed the old one
  bool isPlaced = false, isExchange = false;

  Status place(const std::string& shown) {
    isExchange = ::access(target.c_str(), F_OK) == 0;
    if (isExchange) temporary.alsoLock(target);  // what can be taken back is not to be cleared away
    int rc = isExchange ? renamed(temporary.path(), target, Taken::IsExchanged)
                        : ::rename(temporary.path().c_str(), target.c_str());
    if (rc != 0 && isExchange && hasNoExchange(errno)) {  // a file system without exchange
      isExchange = false;
      rc = ::rename(temporary.path().c_str(), target.c_str());
    }
    if (rc != 0) return fail(ioError("cannot write", shown, errno));
    isPlaced = true;
    if (!isExchange) temporary.release();
    return {};
  }

  void takeBack() {
    if (!isPlaced) return;
    if (isExchange) {
      (void)renamed(temporary.path(), target, Taken::IsExchanged);
    } else {
      (void)::unlink(target.c_str());
    }
  }
};

Status fillReplacement(Replacement& r, const NewFile& file) {
  r.target = resolved(file.path);
  struct stat status{};
  if (::stat(r.target.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fail(ioError("cannot write", file.path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL));
  return fillBeside(r.target, r.temporary, file.chunks, file.path, Flush::BeforeRename);
}

}  // namespace

Status writeFilesAtomic(std::span<const NewFile> files) {
  std::vector<Replacement> all(files.size());
  for (size_t i = 0; i < files.size(); ++i) SVOD_CHECK(fillReplacement(all[i], files[i]));
  for (size_t i = 0; i < files.size(); ++i) {
    Status placed = all[i].place(files[i].path);
    if (placed) continue;
    for (Replacement& r : all) r.takeBack();
    return placed;
  }
  for (const Replacement& r : all) {
    flushFolder(folderOf(r.target));
    removeAbandoned(r.target);
  }
  return {};
}

}  // namespace svod
