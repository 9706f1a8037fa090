// .safetensors files: a JSON header that names tensors, then their bytes. The file is mapped, nothing is
// copied.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/mapped_file.h"
#include "support/element_type.h"
#include "support/result.h"

namespace svod {

struct SafeTensor {
  std::string name;
  std::string dtypeText;             // as written in the file
  std::optional<ElementType> dtype;  // nothing when we have no such element type
  std::vector<uint64_t> shape;
  uint64_t offset = 0;  // bytes from the start of the file; may be unaligned for dtype
  uint64_t bytes = 0;
};

/// Reads and checks the header: every range lies in the file, has the size its shape needs, and none overlap.
/// Sorted by name. `name` goes into errors, which are Diag::BadSafetensors.
Result<std::vector<SafeTensor>> parseSafetensors(std::span<const std::byte> file, const std::string& name);

class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::string& path);

  std::span<const SafeTensor> tensors() const { return tensors_; }
  /// Null when there is no such tensor.
  const SafeTensor* find(std::string_view name) const;
  /// Valid while this object lives.
  std::span<const std::byte> bytes(const SafeTensor& tensor) const {
    return file_.bytes().subspan(tensor.offset, tensor.bytes);
  }

 private:
  MappedFile file_;
  std::vector<SafeTensor> tensors_;
};

/// A tensor to be written. `bytes` are borrowed.
struct NewSafeTensor {
  std::string name;
  ElementType dtype;
  std::vector<uint64_t> shape;
  std::span<const std::byte> bytes;
};

/// A file to be written: header and the bytes of the tensors, as chunks borrowed from it and from the tensors.
struct NewSafetensors {
  std::string header;
  std::vector<std::span<const std::byte>> chunks() const;
  std::vector<std::span<const std::byte>> data;
};

/// The same tensors give the same bytes. Tensors with wide elements come first, so every one is aligned for its element
/// type without gaps, which the format does not allow. Names must differ.
NewSafetensors layOutSafetensors(std::vector<NewSafeTensor> tensors);

/// Whether `path` is a file that layOutSafetensors made, which nobody misses when it is made anew. False without a
/// file.
bool isOwnSafetensors(const std::string& path);

}  // namespace svod
