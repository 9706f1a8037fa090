// The half of plan/directory.h that writes, which the runtime does without.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "data/sha256.h"
#include "plan/check.h"
#include "plan/contents.h"
#include "plan/directory.h"
#include "plan/json.h"
#include "support/utf8.h"

namespace svod {

namespace {

constexpr std::byte kZeros[kPlanAlignment] = {};

/// Build tools make the folder of a file before they have it made.
bool isFreeFor(const std::string& path) {
  std::error_code error;
  return isPlanDirectory(path) ||
         (std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error));
}

/// "kernels.so", "kernels-x86-64-v3.so" and so on.
bool isUsualName(const std::string& name) {
  return name == kPlanFileName || name == "weights.bin" ||
         (name.starts_with("kernels") && (name.ends_with(".so") || name.ends_with(".c")));
}

}  // namespace

Rows<FileDesc> describeFiles(std::span<const PlanFile> files) {
  Rows<FileDesc> out;
  for (const PlanFile& file : files) {
    FileDesc& desc = out.emplace_back(FileDesc{file.path, file.kind, 0, {}, file.image});
    Sha256 hash;
    for (std::span<const std::byte> chunk : file.chunks) {
      hash.update(chunk);
      desc.bytes += chunk.size();
    }
    desc.sha256 = hash.finish();
  }
  return out;
}

Result<PlanContents> contentsOf(Plan plan, std::span<const PlanFile> given) {
  PlanContents contents{{}, {}, {given.begin(), given.end()}};
  plan.files = describeFiles(contents.files);
  SVOD_CHECK(check(plan));
  const std::string record = codeRecord(toJson(plan));
  contents.record.assign(record.begin(), record.end());
  for (PlanFile& file : contents.files)
    if (isCode(file.kind)) file.chunks.push_back(std::as_bytes(std::span(contents.record)));
  plan.files = describeFiles(contents.files);
  contents.json = toJson(plan);
  const std::string& json = contents.json;
  if (const std::optional<size_t> bad = firstNotUtf8(json))
    return fail(Diag::Syntax,
                "a name of the plan holds bytes that are not UTF-8: " + notUtf8Text(json, *bad) + " behind '" +
                    json.substr(*bad - std::min<size_t>(*bad, 20), std::min<size_t>(*bad, 20)) + "'",
                "names are UTF-8");
  SVOD_CHECK(planFromJson(json, kPlanFileName));  // for example an expression longer than readers accept
  return contents;
}

Status writePlanDirectory(const std::string& path, Plan plan, std::span<const PlanFile> given) {
  SVOD_TRY(const PlanContents contents, contentsOf(std::move(plan), given));
  SVOD_CHECK(checkPlanTarget(path));
  std::vector<FileContent> files = {{kPlanFileName, {std::as_bytes(std::span(contents.json))}}};
  for (const PlanFile& file : contents.files) files.push_back({file.path, file.chunks});
  return writeDirectoryAtomic(path, files, isFreeFor);
}

Status checkPlanTarget(const std::string& path) {
  struct stat before = {}, after = {};
  bool isSame = false, isFree = false;
  while (!isSame && !isFree) {  // another process may exchange the plan while it is looked at
    isFree = ::stat(path.c_str(), &before) != 0 || isFreeFor(path);
    isSame = ::stat(path.c_str(), &after) == 0 && after.st_ino == before.st_ino;
  }
  if (isFree) return checkFolderOf(path);
  const bool isFolder = S_ISDIR(before.st_mode);
  return fail(Diag::Io,
              "cannot write '" + path + "': it is " +
                  (isFolder ? "a directory that is no plan, or holds other files as well" : "not a directory"),
              "choose another name for the plan, or remove it first");
}

bool isPlanDirectory(const std::string& path) {
  Result<MappedFile> json = MappedFile::open(path + "/" + kPlanFileName);
  if (!json) return false;
  const std::string_view text(reinterpret_cast<const char*>(json->data()), json->size());
  if (!text.starts_with(kPlanJsonStart)) return false;
  // A damaged plan may be replaced as well, so the usual names are known without reading it.
  std::set<std::string> known;
  if (Result<Plan> plan = planFromJson(text, path))
    for (const FileDesc& file : plan->files) known.insert(file.path);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (const std::string name = entry->path().filename().string();
        !entry->is_regular_file(error) || !(known.contains(name) || isUsualName(name)))
      return false;
  return !error;
}

ConstantId WeightsLayout::add(std::span<const std::byte> bytes) {
  const auto [known, isNew] = known_.emplace(std::pair{bytes.data(), bytes.size()}, constants_.size());
  if (!isNew) return known->second;
  const uint64_t padding = (kPlanAlignment - size_ % kPlanAlignment) % kPlanAlignment;
  if (padding > 0) chunks_.push_back(std::span(kZeros, padding));
  if (!bytes.empty()) chunks_.push_back(bytes);
  constants_.push_back({file_, size_ + padding, bytes.size()});
  size_ += padding + bytes.size();
  return known->second;
}

}  // namespace svod
