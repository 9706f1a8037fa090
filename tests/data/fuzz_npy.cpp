// .npy headers and data from any bytes; what is accepted must be inside the file.
#include <cstdlib>

#include "common/fuzz_target.h"
#include "data/npy.h"

const char* const kSeedCorpus = "tests/data/corpus/npy";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace svod;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  for (std::optional<ElementType> want : {std::optional<ElementType>(), std::optional(ElementType::BF16)}) {
    const Result<NpyHeader> header = parseNpy(bytes, "fuzz", want);
    if (header && header->dataOffset + header->dataBytes != size) std::abort();
    const Result<NpyArray> array = readNpyBytes(bytes, "fuzz", want);
    if (array.has_value() != header.has_value()) std::abort();
    if (array && array->data.size() != header->dataBytes) std::abort();
  }
  return 0;
}
