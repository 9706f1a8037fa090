#include "plan/directory.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "data/mapped_file.h"
#include "data/sha256.h"
#include "plan/check.h"
#include "plan/json.h"
#include "support/says.h"

namespace svod {

namespace {

constexpr uint64_t kMaxJson = UINT64_C(1) << 31;

constexpr std::string_view kRecordStart = "\n//svod plan ";

std::string_view asText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Without links; empty when there is no such file.
std::string realPath(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  const std::string text = real == nullptr ? "" : real;
  ::free(real);
  return text;
}

bool isMissing(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/// Diag::PlanPath when `file` is a link that leads out of the plan directory `path`.
Status checkInside(const std::string& path, const std::string& file) {
  struct stat status{};
  if (::lstat((path + "/" + file).c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return {};
  const std::string real = realPath(path + "/" + file);
  if (!real.empty() && real.substr(0, real.rfind('/')) == realPath(path)) return {};
  return fail(Diag::PlanPath, says({"'", path, "/", file, "' is a link that leads out of the plan"}),
              "put a copy of the file in its place");
}

}  // namespace

Checksum checksumFor(const FileDesc& file, WeightsCheck weights) {
  if (file.kind != FileKind::Weights || weights == WeightsCheck::Always) return Checksum::Compare;
  return weights == WeightsCheck::Small && file.bytes < kSmallWeights ? Checksum::Compare : Checksum::Skip;
}

std::string recordOf(std::string_view digest) { return says({kRecordStart, digest, "\n"}); }

std::span<const std::byte> withoutRecord(std::span<const std::byte> code) {
  constexpr size_t kLength = kRecordStart.size() + 64 + 1;
  if (code.size() < kLength || !asText(code.last(kLength)).starts_with(kRecordStart)) return code;
  return code.first(code.size() - kLength);
}

Status checkCodeRecord(std::string_view record, std::span<const std::byte> code, const std::string& shown) {
  const std::string_view own = asText(code.subspan(withoutRecord(code).size()));
  if (own.empty() || own == record) return {};
  return fail(Diag::PlanChecksum,
              says({"'", shown, "' was compiled with another ", kPlanFileName, ": a number in it was changed"}),
              "compile the graph again");
}

Status checkHoldsPlan(const std::string& path) {
  constexpr const char* kHelp = "a plan is the directory that svodc compile GRAPH -o PLAN wrote";
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  if (!S_ISDIR(status.st_mode)) return fail(Diag::BadPlan, says({"'", path, "' is not a directory"}), kHelp);
  if (!isMissing(path + "/" + kPlanFileName)) return {};
  return fail(Diag::BadPlan, says({"'", path, "' is not a plan: it has no ", kPlanFileName}), kHelp);
}

Status checkBytes(const FileDesc& file, std::span<const std::byte> bytes, const std::string& shown, Checksum checksum) {
  if (bytes.size() != file.bytes)
    return fail(Diag::PlanChecksum, says({"'", shown, "' has ", bytes.size(), " bytes, the plan says ", file.bytes}),
                "compile the graph again");
  if (checksum == Checksum::Skip || sha256Hex(bytes) == file.sha256) return {};
  return fail(Diag::PlanChecksum, says({"'", shown, "' was changed after it was written: its checksum differs"}),
              "compile the graph again");
}

Result<MappedFile> openPlanFile(const std::string& path, const FileDesc& file, Checksum checksum) {
  const std::string name = path + "/" + file.path;
  SVOD_CHECK(checkInside(path, file.path));
  if (isMissing(name))
    return fail(Diag::BadPlan, says({"'", name, "' is missing, which the plan lists"}), "compile the graph again");
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
  const std::string record = codeRecord(json);
  for (const FileDesc& file : plan.files) {
    SVOD_TRY(const MappedFile mapped, openPlanFile(path, file, checksumFor(file, WeightsCheck::Small)));
    if (isCode(file.kind)) SVOD_CHECK(checkCodeRecord(record, mapped.bytes(), path + "/" + file.path));
  }
  return plan;
}

}  // namespace svod
