// A plan on disk: a directory with plan.json, the kernels and the weights.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/mapped_file.h"
#include "plan/plan.h"

namespace svod {

inline constexpr const char* kPlanFileName = "plan.json";

/// One file of a plan to be written. The chunks are written one after the other; they are borrowed.
struct PlanFile {
  std::string path;  // "kernels.so", "kernels.c", "weights.bin"
  FileKind kind = FileKind::Code;
  std::vector<std::span<const std::byte>> chunks;
  ImageTarget image = {};  // of an image
};

/// Sizes and checksums for Plan::files, in the same order.
Rows<FileDesc> describeFiles(std::span<const PlanFile> files);

/// Fills plan.files from `files`, checks the plan and writes the directory atomically. An empty directory is replaced,
/// and one with nothing but files of a plan, even where some of them are missing; any other is left alone (Diag::Io,
/// naming the file in the way). Nothing is written where the same plan stands there already.
Status writePlanDirectory(const std::string& path, Plan plan, std::span<const PlanFile> files);

/// Whether writePlanDirectory would replace or create `path`, as far as that can be told without a plan. Diag::Io,
/// saying what stands there or which folder lacks.
Status checkPlanTarget(const std::string& path);

/// Diag::BadPlan when `path` is there, but is no directory with a plan.json.
Status checkHoldsPlan(const std::string& path);

enum class Checksum { Compare, Skip };

/// Diag::PlanChecksum unless `bytes`, called `shown` in the message, are those that `file` describes.
Status checkBytes(const FileDesc& file, std::span<const std::byte> bytes, const std::string& shown, Checksum checksum);

/// A file of the plan directory `path`, mapped and checked. Diag::PlanPath when it is a link that leads out of the
/// directory.
Result<MappedFile> openPlanFile(const std::string& path, const FileDesc& file, Checksum checksum);

/// Reads and checks plan.json and the files it names, large weights only by their size.
Result<Plan> readPlanDirectory(const std::string& path);

/// Which weights are hashed when a plan is read.
enum class WeightsCheck : uint8_t { Small, Always, Never };
/// Below this size hashing weights takes less than a tenth of a second on processors with instructions for SHA-256.
inline constexpr uint64_t kSmallWeights = UINT64_C(64) << 20;
Checksum checksumFor(const FileDesc& file, WeightsCheck weights);

/// Code and images: files whose accesses follow from the numbers of the manifest.
inline bool isCode(FileKind kind) { return kind == FileKind::Code || kind == FileKind::Image; }

/// What stands at the end of a file of code, behind what is linked or loaded: the SHA-256 of the manifest it was
/// written with, except for the size and checksum of such files. So no number of a manifest can contradict the code,
/// whose accesses follow from them. `manifest` is the text of one, as svodc wrote it.
std::string codeRecord(std::string_view manifest);
/// The same with a digest that is known.
std::string recordOf(std::string_view digest);

/// Diag::PlanChecksum when `code`, called `shown` in the message, was written with another manifest than that of
/// `record`. Code without a record, of an older release, is taken as it is.
Status checkCodeRecord(std::string_view record, std::span<const std::byte> code, const std::string& shown);
/// What stands before the record.
std::span<const std::byte> withoutRecord(std::span<const std::byte> code);

/// The bytes of constants one after the other, each aligned, as chunks of weights.bin.
class WeightsLayout {
 public:
  explicit WeightsLayout(FileId file) : file_(file) {}
  /// Borrows `bytes` until the plan is written. Equal pointers with equal sizes share their place.
  ConstantId add(std::span<const std::byte> bytes);
  const Rows<Constant>& constants() const { return constants_; }
  PlanFile file(std::string path) const { return {std::move(path), FileKind::Weights, chunks_}; }

 private:
  FileId file_;
  uint64_t size_ = 0;
  Rows<Constant> constants_;
  std::vector<std::span<const std::byte>> chunks_;
  std::map<std::pair<const std::byte*, size_t>, ConstantId> known_;  // looked up only, so addresses decide nothing
};

}  // namespace svod
