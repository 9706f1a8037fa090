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

/// Whose a file in the folder of a plan is.
enum class Origin : uint8_t {
  Plan,   // it carries a mark of svodc, or the manifest beside it lists it
  Usual,  // it is called like a file of a plan
  Other,
};

bool isUsualName(const std::string& name) {
  return name == "weights.bin" || (name.starts_with("kernels") && (name.ends_with(".so") || name.ends_with(".c")));
}

/// Code, images of kernels, and plans of older releases, which had one image for all.
bool isNameOfCode(const std::string& name) {
  constexpr std::string_view kEndings[] = {".cubin", ".ptx", ".cu", ".uop"};
  return name.starts_with("kernels") ||
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Files of code end with the record of their manifest, as a comment or, by older releases, plainly.
bool isMarkedCode(const std::string& path) {
  constexpr std::string_view kMark = "svod plan ";
  constexpr size_t kLength = kMark.size() + 64 + 1;
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file || file->size() < kLength) return false;
  const auto* const end = reinterpret_cast<const char*>(file->data()) + file->size();
  return std::string_view(end - kLength, kLength).starts_with(kMark);
}

/// Files that a manifest lists, and itself; nothing where there is none. Damaged ones have no list.
std::set<std::string> listedFiles(const std::string& folder) {
  const Result<MappedFile> json = MappedFile::open(folder + "/" + kPlanFileName);
  if (!json) return {};
  const std::string_view text(reinterpret_cast<const char*>(json->data()), json->size());
  if (!text.starts_with(kPlanJsonStart)) return {};
  std::set<std::string> listed = {kPlanFileName};
  if (const Result<Plan> plan = planFromJson(text, folder))
    for (const FileDesc& file : plan->files) listed.insert(file.path);
  return listed;
}

Origin originOf(const std::filesystem::directory_entry& entry, const std::set<std::string>& listed) {
  std::error_code error;
  const std::string name = entry.path().filename().string();
  if (!entry.is_regular_file(error)) return Origin::Other;
  if (listed.contains(name) || (isNameOfCode(name) && isMarkedCode(entry.path().string()))) return Origin::Plan;
  return isUsualName(name) ? Origin::Usual : Origin::Other;
}

bool isAmong(const std::filesystem::directory_entry& entry, std::span<const FileContent> files) {
  const std::string name = entry.path().filename().string();
  return std::ranges::any_of(files, [&](const FileContent& file) {
    return file.name == name && holdsChunks(entry.path().string(), file.chunks);
  });
}

/// A file that a plan must not be written over.
struct Obstacle {
  std::string name;
  Origin origin = Origin::Other;
};

/// Nothing where the folder is empty, or holds nothing but files of a plan, some of which may be missing. Files that
/// have a usual name alone to show are taken for some where another one is marked, and where they hold what is to be
/// written: `files`, which is null as long as that is unknown.
std::optional<Obstacle> obstacleIn(const std::string& folder, const std::vector<FileContent>* files) {
  const std::set<std::string> listed = listedFiles(folder);
  std::set<std::string> usual, other;
  bool isMarked = false;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const Origin origin = originOf(*entry, listed);
    isMarked |= origin == Origin::Plan;
    const std::string name = entry->path().filename().string();
    if (origin == Origin::Other) other.insert(name);
    if (origin == Origin::Usual && files != nullptr && !isAmong(*entry, *files)) usual.insert(name);
  }
  if (error) return Obstacle{folder};
  if (!other.empty()) return Obstacle{*other.begin()};
  if (!usual.empty() && !isMarked) return Obstacle{*usual.begin(), Origin::Usual};
  return std::nullopt;
}

/// Build tools make the folder of a file before they have it made, and may leave some files of a plan when they clean.
Status checkTarget(const std::string& path, const std::vector<FileContent>* files) {
  struct stat before = {}, after = {};
  while (::stat(path.c_str(), &before) == 0) {
    if (!S_ISDIR(before.st_mode))
      return fail(Diag::Io, "cannot write '" + path + "': it is not a directory",
                  "choose another name for the plan, or remove it first");
    const std::optional<Obstacle> obstacle = obstacleIn(path, files);
    if (!obstacle) break;
    // Another process may have exchanged the plan while it was looked at.
    if (::stat(path.c_str(), &after) != 0 || after.st_ino != before.st_ino) continue;
    if (obstacle->origin == Origin::Usual)
      return fail(
          Diag::Io,
          "cannot write '" + path + "': it holds '" + obstacle->name + "' and nothing that shows it to be of a plan",
          "remove '" + obstacle->name + "' if a plan left it there, or choose another name for the plan");
    return fail(Diag::Io, "cannot write '" + path + "': it holds '" + obstacle->name + "', which is no file of a plan",
                "move that away, or choose another name for the plan");
  }
  return checkFolderOf(path);
}

FileDesc describe(const PlanFile& file) {
  FileDesc desc{file.path, file.kind, 0, {}, file.image};
  Sha256 hash;
  for (std::span<const std::byte> chunk : file.chunks) {
    hash.update(chunk);
    desc.bytes += chunk.size();
  }
  desc.sha256 = hash.finish();
  return desc;
}

}  // namespace

Rows<FileDesc> describeFiles(std::span<const PlanFile> files) {
  Rows<FileDesc> out;
  for (const PlanFile& file : files) out.push_back(describe(file));
  return out;
}

Result<PlanContents> contentsOf(Plan plan, std::span<const PlanFile> given) {
  PlanContents contents{{}, {}, {given.begin(), given.end()}};
  plan.files = describeFiles(contents.files);
  SVOD_CHECK(check(plan));
  const std::string record = codeRecord(toJson(plan));
  contents.record.assign(record.begin(), record.end());
  auto desc = plan.files.begin();
  for (PlanFile& file : contents.files) {
    FileDesc& described = *desc++;
    if (!isCode(file.kind)) continue;
    file.chunks.push_back(std::as_bytes(std::span(contents.record)));
    described = describe(file);
  }
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
  std::vector<FileContent> files = {{kPlanFileName, {std::as_bytes(std::span(contents.json))}}};
  for (const PlanFile& file : contents.files) files.push_back({file.path, file.chunks});
  SVOD_CHECK(checkTarget(path, &files));
  return writeDirectoryAtomic(path, files, [&](const std::string& folder) { return !obstacleIn(folder, &files); });
}

Status checkPlanTarget(const std::string& path) { return checkTarget(path, nullptr); }

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
