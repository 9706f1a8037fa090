// Files that inputs come from.
#pragma once
#include <optional>
#include <string>

#include "data/npy.h"
#include "data/safetensors.h"
#include "support/aligned_bytes.h"

namespace svod {

/// An array in C order, aligned for its dtype, which lies in the mapped file where that allows it.
struct InputArray {
  ElementType dtype = ElementType::F32;
  std::vector<uint64_t> shape;
  std::span<const std::byte> data;
  // What holds the data:
  NpyArray npy;
  std::optional<SafetensorsFile> tensors;
  AlignedBytes copied;
};

/// `text` is FILE.npy, - for standard input, or FILE.safetensors:TENSOR; behind any of them [A:B] takes the entries
/// from A up to B of the first axis, where A is 0 and B their number when left out. `want` is as for readNpy. Errors:
/// UnknownPort for a tensor that is not there, InputMismatch for entries that are not; those of the readers.
Result<InputArray> readInput(const std::string& text, ElementType want);
/// Whether such a text takes its bytes from standard input.
bool isStandardInput(const std::string& text);

}  // namespace svod
