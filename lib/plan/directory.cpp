#include "plan/directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "data/sha256.h"
#include "plan/check.h"
#include "plan/json.h"
#include "support/utf8.h"

namespace svod {

namespace {

constexpr uint64_t kMaxJson = UINT64_C(1) << 31;
constexpr std::byte kZeros[kPlanAlignment] = {};

constexpr std::string_view kRecordStart = "\nsvod plan ";

std::string_view asText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Diag::PlanPath when `file` is a link that leads out of the plan directory `path`.
Status checkInside(const std::string& path, const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path + "/" + file, error)) return {};
  const std::filesystem::path real = std::filesystem::canonical(path + "/" + file, error);
  if (!error && real.parent_path() == std::filesystem::canonical(path, error)) return {};
  return fail(Diag::PlanPath, "'" + path + "/" + file + "' is a link that leads out of the plan",
              "put a copy of the file in its place");
}

/// Build tools make the folder of a file before they have it made.
bool isFreeFor(const std::string& path) {
  std::error_code error;
  return isPlanDirectory(path) ||
         (std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error));
}

}  // namespace

std::vector<FileDesc> describeFiles(std::span<const PlanFile> files) {
  std::vector<FileDesc> out;
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

Checksum checksumFor(const FileDesc& file, WeightsCheck weights) {
  if (file.kind != FileKind::Weights || weights == WeightsCheck::Always) return Checksum::Compare;
  return weights == WeightsCheck::Small && file.bytes < kSmallWeights ? Checksum::Compare : Checksum::Skip;
}

std::string codeRecord(const Plan& plan) {
  Plan without = plan;
  for (FileDesc& file : without.files)
    if (isCode(file.kind)) file.bytes = 0, file.sha256.clear();
  return std::string(kRecordStart) + sha256Hex(toJson(without)) + "\n";
}

std::span<const std::byte> withoutRecord(std::span<const std::byte> code) {
  constexpr size_t kLength = kRecordStart.size() + 64 + 1;
  if (code.size() < kLength || !asText(code.last(kLength)).starts_with(kRecordStart)) return code;
  return code.first(code.size() - kLength);
}

Status checkCodeRecord(const Plan& plan, std::span<const std::byte> code, const std::string& shown) {
  const std::string_view record = asText(code.subspan(withoutRecord(code).size()));
  if (record.empty() || record == codeRecord(plan)) return {};
  return fail(Diag::PlanChecksum,
              "'" + shown + "' was compiled with another " + kPlanFileName + ": a number in it was changed",
              "compile the graph again");
}

Status writePlanDirectory(const std::string& path, Plan plan, std::span<const PlanFile> given) {
  std::vector<PlanFile> files(given.begin(), given.end());
  plan.files = describeFiles(files);
  SVOD_CHECK(check(plan));
  const std::string record = codeRecord(plan);
  for (PlanFile& file : files)
    if (isCode(file.kind)) file.chunks.push_back(std::as_bytes(std::span(record)));
  plan.files = describeFiles(files);
  const std::string json = toJson(plan);
  if (const std::optional<size_t> bad = firstNotUtf8(json))
    return fail(Diag::Syntax,
                "a name of the plan holds bytes that are not UTF-8: " + notUtf8Text(json, *bad) + " behind '" +
                    json.substr(*bad - std::min<size_t>(*bad, 20), std::min<size_t>(*bad, 20)) + "'",
                "names are UTF-8");
  SVOD_CHECK(planFromJson(json, path));  // for example an expression longer than readers accept
  SVOD_CHECK(checkPlanTarget(path));
  std::vector<FileContent> contents = {{kPlanFileName, {std::as_bytes(std::span(json))}}};
  for (const PlanFile& file : files) contents.push_back({file.path, file.chunks});
  return writeDirectoryAtomic(path, contents, isFreeFor);
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

Status checkHoldsPlan(const std::string& path) {
  constexpr const char* kHelp = "a plan is the directory that svodc compile GRAPH -o PLAN wrote";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  if (!std::filesystem::is_directory(path, error))
    return fail(Diag::BadPlan, "'" + path + "' is not a directory", kHelp);
  if (std::filesystem::exists(path + "/" + kPlanFileName, error) || error) return {};
  return fail(Diag::BadPlan, "'" + path + "' is not a plan: it has no " + kPlanFileName, kHelp);
}

Status checkBytes(const FileDesc& file, std::span<const std::byte> bytes, const std::string& shown, Checksum checksum) {
  if (bytes.size() != file.bytes)
    return fail(
        Diag::PlanChecksum,
        "'" + shown + "' has " + std::to_string(bytes.size()) + " bytes, the plan says " + std::to_string(file.bytes),
        "compile the graph again");
  if (checksum == Checksum::Skip || sha256Hex(bytes) == file.sha256) return {};
  return fail(Diag::PlanChecksum, "'" + shown + "' was changed after it was written: its checksum differs",
              "compile the graph again");
}

Result<MappedFile> openPlanFile(const std::string& path, const FileDesc& file, Checksum checksum) {
  const std::string name = path + "/" + file.path;
  SVOD_CHECK(checkInside(path, file.path));
  if (std::error_code error; !std::filesystem::exists(name, error) && !error)
    return fail(Diag::BadPlan, "'" + name + "' is missing, which the plan lists", "compile the graph again");
  SVOD_TRY(MappedFile mapped, MappedFile::open(name));
  SVOD_CHECK(checkBytes(file, mapped.bytes(), name, checksum));
  return mapped;
}

Result<Plan> readPlanDirectory(const std::string& path) {
  SVOD_CHECK(checkHoldsPlan(path));
  const std::string name = path + "/" + kPlanFileName;
  SVOD_TRY(std::string json, readWholeFile(name, kMaxJson));
  SVOD_TRY(Plan plan, planFromJson(json, name));
  SVOD_CHECK(check(plan));
  for (const FileDesc& file : plan.files) {
    SVOD_TRY(const MappedFile mapped, openPlanFile(path, file, checksumFor(file, WeightsCheck::Small)));
    if (isCode(file.kind)) SVOD_CHECK(checkCodeRecord(plan, mapped.bytes(), path + "/" + file.path));
  }
  return plan;
}

bool isPlanDirectory(const std::string& path) {
  Result<MappedFile> json = MappedFile::open(path + "/" + kPlanFileName);
  if (!json || !asText(json->bytes()).starts_with(kPlanJsonStart)) return false;
  // A damaged plan may be replaced as well, so the usual names are known without reading it.
  std::set<std::string> known = {kPlanFileName, "kernels.so", "kernels.c", "weights.bin"};
  if (Result<Plan> plan = planFromJson(asText(json->bytes()), path))
    for (const FileDesc& file : plan->files) known.insert(file.path);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (!entry->is_regular_file(error) || !known.contains(entry->path().filename().string())) return false;
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
