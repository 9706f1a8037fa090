// Directories that appear whole or not at all.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "data/atomic_steps.h"
#include "data/mapped_file.h"
#include "data/temporary.h"

namespace svod {

using namespace detail;

namespace {

/// `now`, which holds these chunks, gets the time of `old` if that holds the same.
void keepTime(const std::string& old, const std::string& now, Chunks chunks) {
  struct stat status{};
  if (!holdsChunks(old, chunks) || ::stat(old.c_str(), &status) != 0) return;
  const timespec times[] = {status.st_atim, status.st_mtim};
  (void)::utimensat(AT_FDCWD, now.c_str(), times, 0);
}

/// What a step of putting a folder in its place came to: another process may have done the same just before.
enum class Placed : uint8_t { Done, TryAgain };

Result<Placed> moveNew(Temporary& temporary, const std::string& path) {
  int rc = renamed(temporary.path(), path, Taken::IsError);
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
  if (renamed(temporary.path(), path, Taken::IsExchanged) == 0) return Placed::Done;
  if (errno == ENOENT) return Placed::TryAgain;
  if (hasNoExchange(errno)) return moveTwice(temporary, path);
  return fail(ioError("cannot replace", path, errno));
}

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
