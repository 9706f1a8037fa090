// What the graph fuzzers do with a file that was read: it must convert without loss, and build or be refused.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>

#include "frontend/frontend.h"
#include "ir/verify.h"

namespace svod {

inline void requireEqual(const std::string& a, const std::string& b, const char* what) {
  if (a == b) return;
  std::fprintf(stderr, "%s\n--- first\n%s\n--- second\n%s\n", what, a.c_str(), b.c_str());
  std::abort();
}

inline GraphFile readAgain(const std::string& text, const char* path) {
  Result<GraphFile> file = parseGraph(text, path);
  if (file) return std::move(*file);
  std::fprintf(stderr, "printed text is refused: %s\n%s\n", toText(file.error()).c_str(), text.c_str());
  std::abort();
}

/// `isUtf8`: JSON replaces bytes that are no UTF-8, so only text keeps every file.
inline void checkGraphFile(const GraphFile& file, bool isUtf8) {
  std::string text = writeGraphText(file);
  requireEqual(writeGraphText(readAgain(text, "a.svod")), text, "text changes when it is read and printed");
  if (isUtf8) requireEqual(writeGraphText(readAgain(writeGraphJson(file), "a.json")), text, "JSON loses something");
  Result<Model> model = buildModel(file);
  if (!model) return;
  if (Status legal = verify(model->sink, Stage::Tensor); !legal) {
    std::fprintf(stderr, "built an illegal graph: %s\n", toText(legal.error()).c_str());
    std::abort();
  }
}

}  // namespace svod
