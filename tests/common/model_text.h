// Models from the text of a graph file.
#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "frontend/frontend.h"

namespace svod {

/// `text` is a graph file without its first line.
inline Model modelOf(const std::string& text, const LoadOptions& options = {}) {
  Result<GraphFile> file = parseGraph("svod 1\n" + text, "loop.svod");
  if (!file) FAIL(toText(file.error()));
  Result<Model> model = buildModel(*file, options);
  if (!model) FAIL(toText(model.error()));
  return std::move(*model);
}

}  // namespace svod
