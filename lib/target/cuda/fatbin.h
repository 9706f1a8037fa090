// Machine code of NVIDIA's GPUs and PTX for several architectures in one file, which the CUDA driver loads as it does
// one of them, and takes the best from.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace svod {

struct FatbinPart {
  uint32_t capability = 0;  // 90 is 9.0
  char form = '\0';         // 'a' where only this capability runs it, 'f' where those of its family do
  bool isPtx = false;
  std::string_view bytes;  // a cubin, or the text of PTX
};

/// Not compressed. The same bytes as NVIDIA's fatbinary writes of cubins.
std::string joinFatbin(std::span<const FatbinPart> parts);

}  // namespace svod
