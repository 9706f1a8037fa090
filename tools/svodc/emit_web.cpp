#include "emit_web.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "data/atomic_write.h"
#include "data/sha256.h"
#include "emit_kinds.h"
#include "web/web.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

constexpr size_t kDigestDigits = 16;

bool runsInPages(const ImageTarget& image) {
  return std::ranges::any_of(targets(),
                             [&](const Target* t) { return t->isForPages && t->deviceKind == image.device; });
}

/// What stands in a module: the text of kernels that pages run, nothing for others.
WebParts webPartsOf(const Compilation& c) {
  WebParts parts{{}, weightsOf(c)};
  for (const KernelDesc& kernel : c.plan.kernels) {
    const bool hasImage = kernel.grid && !kernel.grid->images.empty();
    const PlanFile* file = hasImage ? &c.files[kernel.grid->images[0].file] : nullptr;
    parts.kernels.push_back(file != nullptr && runsInPages(file->image) ? bytesOf(*file) : "");
  }
  return parts;
}

bool beginsWithMark(const fs::path& path) {
  std::string begin(kWebMark.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kWebMark;
}

/// Modules and their types say who made them; weights stand beside the module of their name.
bool isOurs(const fs::path& file) {
  const std::string extension = file.extension();
  if (extension == ".bin") return beginsWithMark(fs::path(file).replace_extension(".js"));
  return (extension == ".js" || extension == ".ts") && beginsWithMark(file);
}

/// The first file of a folder that no module is made of; empty where there is none, and where it cannot be read.
std::string otherFileIn(const std::string& folder) {
  std::error_code error;
  std::string other;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    const bool isOther = !entry->is_regular_file(error) || !isOurs(entry->path());
    if (isOther && (other.empty() || name < other)) other = name;
  }
  return other;
}

bool mayReplace(const std::string& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && otherFileIn(folder).empty();
}

Result<WebOptions> optionsOf(const EmitSource& from, std::string_view digest) {
  WebOptions options;
  SVOD_TRY(options.prefix, prefixOf(from.compilation.plan, from.embed));
  const WeightsPlace& weights = from.embed.weights;
  if (weights.kind == WeightsPlace::Kind::Section)
    return fail(Diag::Usage, "--emit web has no sections for weights",
                "--weights object puts them into the module, --weights file beside it");
  options.holdsWeights = weights.isChosen && weights.kind == WeightsPlace::Kind::Object;
  options.digest = digest;
  return options;
}

}  // namespace

Status checkWebFolder(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || mayReplace(path)) return checkFolderOf(path);
  const std::string other = otherFileIn(path);
  return fail(Diag::Io,
              "cannot write '" + path + "': it " +
                  (other.empty() ? "is no folder" : "holds '" + other + "', which is no part of a module of svodc"),
              "give the module a folder of its own, such as " + path + "/model");
}

Status writeWeb(const std::string& path, const EmitSource& from) {
  const WebParts parts = webPartsOf(from.compilation);
  Sha256 hash;
  for (const std::span<const std::byte> chunk : parts.weights) hash.update(chunk);
  const std::string digest = hash.finish().substr(0, kDigestDigits);
  SVOD_TRY(const WebOptions options, optionsOf(from, digest));
  SVOD_TRY(const std::vector<WebFile> files, webFiles(from.compilation.plan, parts, options));
  std::vector<FileContent> contents;
  for (const WebFile& file : files) {
    contents.push_back({file.name, {std::as_bytes(std::span(file.text.data(), file.text.size()))}});
    if (file.isWeights) contents.back().chunks = parts.weights;
  }
  return writeDirectoryAtomic(path, contents, mayReplace);
}

std::vector<std::string> webFileNames(const Compilation& compilation, const EmbedOptions& embed) {
  const Result<std::string> prefix = prefixOf(compilation.plan, embed);
  if (!prefix) return {};
  std::vector<std::string> names = {*prefix + ".js", *prefix + ".d.ts"};
  const bool isInside = embed.weights.isChosen && embed.weights.kind == WeightsPlace::Kind::Object;
  if (!isInside && !weightsOf(compilation).empty()) names.push_back(*prefix + ".bin");
  return names;
}

}  // namespace svod
