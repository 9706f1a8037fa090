// Any bytes as a graph in JSON form.
#include "../common/fuzz_target.h"
#include "graph_fuzzer.h"

const char* const kSeedCorpus = "tests/fuzz/corpus/graph_json";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (auto file = svod::parseGraphJson(text, "fuzz.json")) svod::checkGraphFile(*file, true);
  return 0;
}
