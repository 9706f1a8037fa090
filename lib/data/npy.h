// .npy files, numpy's format for one array: versions 1, 2 and 3, little endian.
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

struct NpyHeader {
  ElementType dtype = ElementType::F32;
  bool fortranOrder = false;
  std::vector<uint64_t> shape;
  uint64_t dataOffset = 0;  // bytes from the start of the file
  uint64_t dataBytes = 0;
};

/// Reads the header in `file` and checks that the data is complete. `want` settles what the file cannot say:
/// u16 is also bf16, u8 is also a float of 8 or 4 bits or a smaller unsigned integer, i8 a smaller signed one, and raw
/// bytes (`V1`, `V2`) are floats. `name` goes into errors.
Result<NpyHeader> parseNpy(std::span<const std::byte> file, const std::string& name,
                           std::optional<ElementType> want = std::nullopt);

/// An array in C order. Its bytes lie in the mapped file where the file allows it, else in `owned`. Elements of 2 and 4
/// bits, which have an item each in the file, share bytes here.
struct NpyArray {
  ElementType dtype = ElementType::F32;
  std::vector<uint64_t> shape;
  std::span<const std::byte> data;  // tensorBytes(dtype, shape) of them, aligned for dtype
  MappedFile file;
  std::vector<std::byte> owned;
};

/// Maps `path`. Fortran order is converted (copied); an item that does not fit 2 or 4 bits is an error. Errors are
/// Diag::BadNpy and Diag::Io.
Result<NpyArray> readNpy(const std::string& path, std::optional<ElementType> want = std::nullopt);

/// As readNpy, from bytes in memory, which are copied. `name` goes into errors.
Result<NpyArray> readNpyBytes(std::span<const std::byte> bytes, const std::string& name,
                              std::optional<ElementType> want = std::nullopt);

/// Header bytes of a C-order array: magic to newline, a multiple of 64 long.
std::string npyHeader(ElementType dtype, std::span<const uint64_t> shape);

/// What follows the header if that is not `data` itself: an item for each element of 2 or 4 bits. Empty for others.
std::vector<std::byte> npyItems(ElementType dtype, std::span<const uint64_t> shape, std::span<const std::byte> data);

/// Writes atomically and without waiting for the disk: arrays are results. `data` holds tensorBytes(dtype,
/// shape) bytes in C order.
Status writeNpy(const std::string& path, ElementType dtype, std::span<const uint64_t> shape,
                std::span<const std::byte> data);

}  // namespace svod
