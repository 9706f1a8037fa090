#include "data/file_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <vector>

#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "data/sha256.h"
#include "support/hex.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".svod", kTemporary = ".svod.tmp-";
constexpr size_t kKeyLength = 64, kChecksumLength = 64;

std::string checksumOf(const std::string& key, std::string_view value) {
  Sha256 hash;
  hash.update(key);
  hash.update(value);
  return hash.finish();
}

bool isEntry(const std::string& name) {
  return name.size() == kKeyLength + kSuffix.size() && name.ends_with(kSuffix) &&
         name.find_first_not_of(kHexDigits) == kKeyLength;
}

// What a process that was ended while it wrote left; younger ones may still be written.
bool isAbandoned(const fs::directory_entry& entry, const std::string& name) {
  std::error_code error;
  const auto written = entry.last_write_time(error);
  return name.find(kTemporary) == kKeyLength && !error &&
         fs::file_time_type::clock::now() - written > std::chrono::hours(1);
}

struct Found {
  fs::path path;
  fs::file_time_type used;
  uint64_t bytes;
};

uint64_t onDisk(uint64_t size) { return (size + 4095) / 4096 * 4096; }

/// Calls `see(entry, name)` for every file of the folder.
template <class See>
Status eachFile(const std::string& folder, See see) {
  std::error_code error;
  fs::directory_iterator files(folder, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  for (; !error && files != fs::directory_iterator(); files.increment(error))
    see(*files, files->path().filename().string());
  if (error) return fail(ioError("cannot read", folder, error.value()));
  return {};
}

/// Other processes may remove files meanwhile; what is gone is not there.
Result<std::vector<Found>> entriesOf(const std::string& folder) {
  std::vector<Found> found;
  SVOD_CHECK(eachFile(folder, [&](const fs::directory_entry& entry, const std::string& name) {
    std::error_code error;
    if (!isEntry(name)) return;
    const auto used = entry.last_write_time(error);
    const uint64_t size = error ? 0 : entry.file_size(error);
    if (!error) found.push_back({entry.path(), used, onDisk(size)});
  }));
  return found;
}

Status makeFolder(const std::string& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) == 0) return {};
  std::error_code ignored;
  fs::create_directories(fs::path(folder).parent_path(), ignored);  // if this fails, so does the next
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return fail(ioError("cannot create", folder, errno));
  // Programs that make backups leave out folders with this file.
  return writeFileAtomic(
      folder + "/CACHEDIR.TAG",
      "Signature: 8a477f597d28d172789f06886806bc55\n# Compiled kernels, made by svodc; may be removed.\n");
}

}  // namespace

std::string FileCache::fileOf(const std::string& key) const { return folder_ + "/" + key + std::string(kSuffix); }

std::optional<std::string> FileCache::get(const std::string& key) const {
  const std::string path = fileOf(key);
  Result<std::string> text = readWholeFile(path);
  if (!text) return std::nullopt;
  const std::string_view whole = *text;
  if (whole.size() < kChecksumLength ||
      checksumOf(key, whole.substr(kChecksumLength)) != whole.substr(0, kChecksumLength))
    return std::nullopt;
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // a folder that cannot be written serves as well
  return text->substr(kChecksumLength);
}

Status FileCache::put(const std::string& key, std::string_view value) const {
  SVOD_CHECK(makeFolder(folder_));
  const std::string checksum = checksumOf(key, value);
  const std::span<const std::byte> chunks[] = {std::as_bytes(std::span(checksum)), std::as_bytes(std::span(value))};
  return writeChunksAtomic(fileOf(key), chunks, Flush::Sometime);
}

Result<FileCache::Usage> FileCache::usage() const {
  SVOD_TRY(const std::vector<Found> entries, entriesOf(folder_));
  Usage usage;
  for (const Found& entry : entries) ++usage.entries, usage.bytes += entry.bytes;
  return usage;
}

Result<FileCache::Usage> FileCache::trim(uint64_t maxBytes) const {
  SVOD_CHECK(eachFile(folder_, [](const fs::directory_entry& entry, const std::string& name) {
    std::error_code ignored;
    if (isAbandoned(entry, name)) fs::remove(entry.path(), ignored);
  }));
  SVOD_TRY(std::vector<Found> entries, entriesOf(folder_));
  uint64_t left = 0;
  for (const Found& entry : entries) left += entry.bytes;
  std::ranges::sort(entries, {}, [](const Found& f) { return std::pair(f.used, f.path); });
  Usage removed;
  for (const Found& entry : entries) {
    if (left <= maxBytes) break;
    std::error_code error;
    fs::remove(entry.path, error);
    if (error) return fail(ioError("cannot remove", entry.path.string(), error.value()));
    left -= entry.bytes, removed.bytes += entry.bytes, ++removed.entries;
  }
  return removed;
}

}  // namespace svod
