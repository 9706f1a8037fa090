// An image with the code of many kernels, each as its driver loads it: they are compiled one by one, and kept so.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace svod {

struct KernelCode {
  std::string_view symbol;  // as KernelDesc::symbol; no spaces
  std::string_view bytes;
};

/// `svod image 1`, a line `SYMBOL OFFSET BYTES` for each kernel, an empty line, and the code: every OFFSET counts from
/// the beginning of the image and is a multiple of 64, and a zero follows all code.
std::string joinImage(std::span<const KernelCode> kernels);

/// The code of one kernel, which lies in `image`; nothing where that has none, or is no such image.
std::optional<std::span<const std::byte>> codeIn(std::span<const std::byte> image, std::string_view symbol);

}  // namespace svod
