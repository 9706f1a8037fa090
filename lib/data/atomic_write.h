// Files and directories that appear whole or not at all: they are written beside their name and then
// renamed (or exchanged with what stood there), so a failure leaves nothing half-written. What a process that was
// killed left beside a name is removed by whoever writes that name next (data/temporary.h). Any number of processes may
// write one name at once: one of them is the last.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace svod {

/// When bytes have to be on the disk: before the file gets its name, so that it is whole even after a loss of
/// power, or whenever the system likes, for results that can be computed again. Flushing costs milliseconds.
enum class Flush : uint8_t { BeforeRename, Sometime };

/// Replaces `path` with the chunks, one after the other. What stood there gives its mode, and its owner where that is
/// allowed. Symbolic links are followed; pipes and devices are written directly, and a pipe without a reader is an
/// error.
Status writeChunksAtomic(const std::string& path, std::span<const std::span<const std::byte>> chunks,
                         Flush flush = Flush::BeforeRename);
Status writeFileAtomic(const std::string& path, std::string_view text);

/// Whether a regular file stands at `path` that holds exactly these chunks, one after the other.
bool holdsChunks(const std::string& path, std::span<const std::span<const std::byte>> chunks);
/// Diag::Io unless something new can be written at `path`: its folder is there and takes files. For before long work.
Status checkFolderOf(const std::string& path);

/// A file to be written beside others. The chunks are borrowed.
struct NewFile {
  std::string path;
  std::vector<std::span<const std::byte>> chunks;
};
/// Replaces all of these files, or none: after a failure the old ones stand there again. Links are followed; whatever
/// is not a regular file is an error; modes and owners stay, as above.
Status writeFilesAtomic(std::span<const NewFile> files);

/// One file of a new directory. The chunks are written one after the other; they are borrowed, not copied.
struct FileContent {
  std::string name;  // a plain file name, no separators
  std::vector<std::span<const std::byte>> chunks;
};

/// Creates the directory `path` with exactly these files. An existing directory is exchanged for the new one
/// and deleted, but only if `mayReplace(path)` says so; anything else at `path` is an error. Files that keep their
/// bytes keep their time, and where all do nothing is written: build tools then find nothing to do.
Status writeDirectoryAtomic(const std::string& path, std::span<const FileContent> files,
                            const std::function<bool(const std::string&)>& mayReplace);

}  // namespace svod
