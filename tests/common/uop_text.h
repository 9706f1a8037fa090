// Graphs written as text in tests: a mistake in the text ends the test with its error.
#pragma once
#include <catch2/catch.hpp>
#include <string_view>

#include "ir/text.h"
#include "ir/verify.h"

namespace svod {

inline UOp parse(Graph& graph, std::string_view text) {
  Result<UOp> root = parseUop(graph, text);
  if (!root) FAIL(toText(root.error()) << "\n" << text);
  return *root;
}

/// The same, legal at `stage`.
inline UOp parse(Graph& graph, std::string_view text, Stage stage) {
  UOp root = parse(graph, text);
  Status legal = verify(root, stage);
  if (!legal) FAIL(toText(legal.error()));
  return root;
}

}  // namespace svod
