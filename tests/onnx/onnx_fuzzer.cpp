// Any bytes as an ONNX model: it is refused with errors, or becomes a legal graph.
#include <cstdio>
#include <cstdlib>

#include "common/fuzz_target.h"
#include "ir/verify.h"
#include "onnx/onnx.h"

const char* const kSeedCorpus = "tests/onnx/corpus/onnx";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  svod::OnnxImport import = svod::importOnnxBytes(std::as_bytes(std::span(data, size)), "fuzz.onnx");
  if (!import.model) {
    if (import.errors.empty()) std::abort();
    return 0;
  }
  if (svod::Status legal = svod::verify(import.model->sink, svod::Stage::Tensor); !legal) {
    std::fprintf(stderr, "built an illegal graph: %s\n", svod::toText(legal.error()).c_str());
    std::abort();
  }
  return 0;
}
