#include "plan/pack.h"

#include <sys/stat.h>

#include <algorithm>

#include "plan/check.h"
#include "plan/json.h"
#include "plan/pack_head.h"

namespace svod {

using namespace detail;

namespace {

tl::unexpected<Error> damaged(const std::string& name, const std::string& what) {
  return fail(Diag::BadPlan, "'" + name + "' is damaged: " + what, "compile the graph again");
}

Status checkHead(const PackHead& head, uint64_t bytes, const std::string& name) {
  if (head.byteOrder == __builtin_bswap32(kPackByteOrder))
    return fail(Diag::CpuFeatures, "'" + name + "' is for machines with the other order of bytes",
                "compile the graph with --triple for this machine");
  if (head.byteOrder != kPackByteOrder) return damaged(name, "its head gives no order of bytes");
  if (head.version != kPackVersion)
    return fail(Diag::PlanVersion,
                "'" + name + "' has pack version " + std::to_string(head.version) + ", this reader accepts version " +
                    std::to_string(kPackVersion),
                "compile the graph again with the svodc that belongs to this runtime");
  if (head.packBytes != bytes)
    return damaged(name, "it has " + std::to_string(bytes) + " bytes, its head says " + std::to_string(head.packBytes));
  if (head.manifestBytes > bytes - sizeof head) return damaged(name, "its manifest reaches beyond its end");
  return {};
}

/// Walks over the files of a pack: nothing may stand between them.
class Files {
 public:
  Files(std::span<const std::byte> pack, size_t begin) : pack_(pack), at_(begin) {}

  /// The next `bytes` bytes from a page on, unless the pack is too short or has something before them.
  std::optional<std::span<const std::byte>> take(uint64_t bytes) {
    const uint64_t begin = alignedInPack(at_);
    if (begin > pack_.size() || bytes > pack_.size() - begin) return std::nullopt;
    const std::span<const std::byte> between = pack_.subspan(at_, begin - at_);
    if (std::ranges::any_of(between, [](std::byte byte) { return byte != std::byte{}; })) return std::nullopt;
    at_ = begin + bytes;
    return pack_.subspan(begin, bytes);
  }
  bool isAtEnd() const { return at_ == pack_.size(); }

 private:
  std::span<const std::byte> pack_;
  uint64_t at_;
};

bool isDirectory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

bool holdsPlan(const std::string& path) {
  if (isDirectory(path)) return true;
  const Result<MappedFile> file = MappedFile::open(path);
  return file && file->size() >= sizeof kPackMagic && std::memcmp(file->data(), kPackMagic, sizeof kPackMagic) == 0;
}

Result<std::string_view> manifestOf(std::span<const std::byte> pack, const std::string& name) {
  PackHead head;
  if (pack.size() < sizeof head || std::memcmp(pack.data(), kPackMagic, sizeof kPackMagic) != 0)
    return fail(Diag::BadPlan, "'" + name + "' is not a plan: it is no directory, and no pack",
                "a plan is what svodc compile GRAPH -o PLAN, or --emit pack, wrote");
  std::memcpy(&head, pack.data(), sizeof head);
  SVOD_CHECK(checkHead(head, pack.size(), name));
  return std::string_view(reinterpret_cast<const char*>(pack.data()) + sizeof head, head.manifestBytes);
}

Result<std::vector<std::span<const std::byte>>> filesOf(std::span<const std::byte> pack, const Plan& plan,
                                                        const std::string& name) {
  SVOD_TRY(const std::string_view manifest, manifestOf(pack, name));
  Files from(pack, sizeof(PackHead) + manifest.size());
  std::vector<std::span<const std::byte>> files;
  for (const FileDesc& file : plan.files) {
    const auto bytes = from.take(file.bytes);
    if (!bytes) return damaged(name, "'" + file.path + "' is not at its place");
    if (isCode(file.kind) && withoutRecord(*bytes).size() == bytes->size())
      return damaged(name, "'" + file.path + "' does not say which manifest it belongs to");
    files.push_back(*bytes);
  }
  if (!from.isAtEnd()) return damaged(name, "something stands behind its last file");
  return files;
}

Result<Plan> readPlan(const std::string& path) {
  if (isDirectory(path)) return readPlanDirectory(path);
  SVOD_TRY(const MappedFile pack, MappedFile::open(path));
  SVOD_TRY(const std::string_view manifest, manifestOf(pack.bytes(), path));
  SVOD_TRY(Plan plan, planFromJson(manifest, path));
  SVOD_CHECK(check(plan));
  SVOD_TRY(const auto files, filesOf(pack.bytes(), plan, path));
  const std::string record = codeRecord(manifest);
  for (FileId id = 0; id < plan.files.size(); id++) {
    const FileDesc& file = plan.files[id];
    const std::string shown = path + ":" + file.path;
    SVOD_CHECK(checkBytes(file, files[id], shown, checksumFor(file, WeightsCheck::Small)));
    if (isCode(file.kind)) SVOD_CHECK(checkCodeRecord(record, files[id], shown));
  }
  return plan;
}

Result<std::string> readPlanFile(const std::string& path, const Plan& plan, FileId id) {
  if (isDirectory(path)) return readWholeFile(path + "/" + plan.files[id].path);
  SVOD_TRY(const MappedFile pack, MappedFile::open(path));
  SVOD_TRY(const auto files, filesOf(pack.bytes(), plan, path));
  return std::string(reinterpret_cast<const char*>(files[id].data()), files[id].size());
}

}  // namespace svod
