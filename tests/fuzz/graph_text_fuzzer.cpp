// Any bytes as a graph in text form.
#include <algorithm>

#include "../common/fuzz_target.h"
#include "graph_fuzzer.h"

const char* const kSeedCorpus = "tests/fuzz/corpus/graph_text";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  bool isAscii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  bool escapes = text.find("\\x") != std::string::npos;  // \xff in a name is a byte that is no UTF-8
  if (auto file = svod::parseGraphText(text, "fuzz.svod")) svod::checkGraphFile(*file, isAscii && !escapes);
  return 0;
}
