// .safetensors headers from any bytes; what is accepted must be inside the file.
#include <cstdlib>

#include "common/fuzz_target.h"
#include "data/safetensors.h"

const char* const kSeedCorpus = "tests/data/corpus/safetensors";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace svod;
  const auto tensors = parseSafetensors({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!tensors) return 0;
  for (const SafeTensor& tensor : *tensors)
    if (tensor.offset > size || tensor.bytes > size - tensor.offset) std::abort();
  return 0;
}
