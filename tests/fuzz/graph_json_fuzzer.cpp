// Any bytes as a graph in JSON form.
#include <cstdint>

#include "graph_fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (auto file = svod::parseGraphJson(text, "fuzz.json")) svod::checkGraphFile(*file, true);
  return 0;
}
