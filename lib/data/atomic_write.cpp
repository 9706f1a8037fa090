#include "data/atomic_write.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "data/mapped_file.h"
#include "data/temporary.h"

namespace svod {

namespace {

using Chunks = std::span<const std::span<const std::byte>>;

std::string withoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// What a symbolic link points to, or the path itself.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string text = real;
  ::free(real);
  return text;
}

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

/// Writes, flushes if the file system can, and closes; every step may report a full disk.
Status fillAndClose(int fd, Chunks chunks, const std::string& path, Flush flush) {
  Status status = writeAll(fd, chunks, path);
  if (status && flush == Flush::BeforeRename && ::fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    status = fail(ioError("cannot write", path, errno));
  if (::close(fd) != 0 && status) status = fail(ioError("cannot write", path, errno));
  return status;
}

/// A new file for writing, or -1 with errno set.
int createFile(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }

/// A filled file beside `target`; errors name `shown`.
Status fillBeside(const std::string& target, Temporary& temporary, Chunks chunks, const std::string& shown,
                  Flush flush) {
  int fd = -1;
  const auto create = [&](const std::string& name) {
    if (fd >= 0) ::close(fd);
    return (fd = createFile(name)) >= 0;
  };
  if (!temporary.createBeside(target, create)) return fail(ioError("cannot write", shown, errno));
  return fillAndClose(fd, chunks, shown, flush);
}

/// Makes the renamed entry durable. Not being able to flush a directory is no failure.
void flushFolder(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

Status writeDirectly(const std::string& path, Chunks chunks) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return fail(ioError("cannot write", path, errno));
  return fillAndClose(fd, chunks, path, Flush::Sometime);
}

/// `now`, which holds these chunks, gets the time of `old` if that holds the same.
void keepTime(const std::string& old, const std::string& now, Chunks chunks) {
  struct stat status{};
  if (!holdsChunks(old, chunks) || ::stat(old.c_str(), &status) != 0) return;
  const timespec times[] = {status.st_atim, status.st_mtim};
  (void)::utimensat(AT_FDCWD, now.c_str(), times, 0);
}

bool hasNoExchange(int error) { return error == EINVAL || error == ENOSYS; }

/// What a step of putting a folder in its place came to: another process may have done the same just before.
enum class Placed : uint8_t { Done, TryAgain };

Result<Placed> moveNew(Temporary& temporary, const std::string& path) {
  int rc = ::renameat2(AT_FDCWD, temporary.path().c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE);
  if (rc != 0 && hasNoExchange(errno)) rc = ::rename(temporary.path().c_str(), path.c_str());
  if (rc != 0 && (errno == EEXIST || errno == ENOTEMPTY)) return Placed::TryAgain;
  if (rc != 0) return fail(ioError("cannot create", path, errno));
  temporary.release();
  return Placed::Done;
}

/// By two renames, for file systems that cannot exchange.
Result<Placed> moveTwice(Temporary& temporary, const std::string& path) {
  Temporary old;
  auto moveAway = [&](const std::string& name) { return ::rename(path.c_str(), name.c_str()) == 0; };
  if (!old.createBeside(path + ".old", moveAway)) {
    if (errno == ENOENT) return Placed::TryAgain;
    return fail(ioError("cannot replace", path, errno));
  }
  if (::rename(temporary.path().c_str(), path.c_str()) != 0) {
    if (errno == EEXIST || errno == ENOTEMPTY) return Placed::TryAgain;
    Error error = ioError("cannot replace", path, errno);
    (void)::rename(old.path().c_str(), path.c_str());
    old.release();  // never deleted: it is the only complete copy
    return fail(std::move(error));
  }
  temporary.release();
  return Placed::Done;
}

/// Swaps the two directories; the old one then carries the temporary name and is deleted with it.
Result<Placed> exchange(Temporary& temporary, const std::string& path) {
  temporary.alsoLock(path);
  if (::renameat2(AT_FDCWD, temporary.path().c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0)
    return Placed::Done;
  if (errno == ENOENT) return Placed::TryAgain;
  if (hasNoExchange(errno)) return moveTwice(temporary, path);
  return fail(ioError("cannot replace", path, errno));
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
    int rc = isExchange ? ::renameat2(AT_FDCWD, temporary.path().c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE)
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
      (void)::renameat2(AT_FDCWD, temporary.path().c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE);
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

namespace {

/// Whether the folder has exactly these files, with these bytes.
bool holdsFiles(const std::string& folder, std::span<const FileContent> files) {
  std::error_code error;
  size_t entries = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_symlink()) return false;
    entries++;
  }
  if (error || entries != files.size()) return false;
  return std::ranges::all_of(
      files, [&](const FileContent& file) { return holdsChunks(folder + "/" + file.name, file.chunks); });
}

/// Creates `target` from the filled folder, or exchanges them, whatever other processes do to that name meanwhile.
Status placeFolder(Temporary& temporary, const std::string& target, const std::string& shown,
                   const std::function<bool(const std::string&)>& mayReplace) {
  constexpr int kMostAttempts = 1000;
  for (int attempt = 0; attempt < kMostAttempts; attempt++) {
    struct stat before = {}, after = {};
    const bool exists = ::lstat(target.c_str(), &before) == 0;
    if (exists && !(S_ISDIR(before.st_mode) && mayReplace(target))) {
      const bool isSame = ::lstat(target.c_str(), &after) == 0 && after.st_ino == before.st_ino;
      if (!isSame) continue;  // it was exchanged while we looked
      return fail(Diag::Io, "cannot write '" + shown + "': something else already stands there",
                  "choose another name, or remove it first");
    }
    SVOD_TRY(const Placed placed, exists ? exchange(temporary, target) : moveNew(temporary, target));
    if (placed == Placed::Done) return {};
  }
  return fail(Diag::Io, "cannot write '" + shown + "': other processes keep replacing it",
              "let one process at a time write it");
}

}  // namespace

Status writeDirectoryAtomic(const std::string& path, std::span<const FileContent> files,
                            const std::function<bool(const std::string&)>& mayReplace) {
  const std::string target = resolved(withoutTrailingSlashes(path));
  if (holdsFiles(target, files) && mayReplace(target)) return {};
  Temporary temporary;
  auto create = [](const std::string& name) { return ::mkdir(name.c_str(), 0777) == 0; };
  if (!temporary.createBeside(target, create)) return fail(ioError("cannot create", path, errno));
  for (const FileContent& file : files) {
    const std::string name = temporary.path() + "/" + file.name, shown = path + "/" + file.name;
    const int fd = createFile(name);
    if (fd < 0) return fail(ioError("cannot write", shown, errno));
    SVOD_CHECK(fillAndClose(fd, file.chunks, shown, Flush::BeforeRename));
    keepTime(target + "/" + file.name, name, file.chunks);
  }
  flushFolder(temporary.path());
  SVOD_CHECK(placeFolder(temporary, target, path, mayReplace));
  flushFolder(folderOf(target));
  removeAbandoned(target);
  return {};
}

}  // namespace svod
