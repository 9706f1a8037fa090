// What is wrong with `.uop` text is said where it is, with what to write.
#include <catch2/catch.hpp>
#include <string>

#include "ir/text.h"

using namespace svod;

namespace {

Error parseError(std::string_view text) {
  Graph graph;
  Result<UOp> root = parseUop(graph, text);
  REQUIRE_FALSE(root.has_value());
  return root.error();
}

}  // namespace

TEST_CASE("errors point at the place and say what to write") {
  struct Row {
    const char* text;
    int line, column;
    Diag diag;
  };
  constexpr Row kRows[] = {
      {"%1 = sink\n", 1, 1, Diag::Syntax},
      {"%0 = frob\n", 1, 6, Diag::UnknownOp},
      {"%0 = var {\"n\", 0, 3} : index\n%1 = add %0, %7 : index\n", 2, 14, Diag::UnknownName},
      {"%0 = var {\"n\", 0, 3} : index\n%1 = add %0 : index\n", 2, 6, Diag::Syntax},
      {"%0 = var {\"n\", 0, 3} : i12\n", 1, 24, Diag::UnknownDType},
      {"%0 = var {\"n\", 3, 0} : index\n", 1, 6, Diag::Syntax},
      {"%0 = const 300:i8\n", 1, 12, Diag::Syntax},
      {"%0 = const 1.5\n", 1, 12, Diag::Syntax},
      {"%0 = buffer 4 {0} : f32[5]\n", 1, 21, Diag::ShapeMismatch},
      {"%0 = buffer 4 {0, shared} : f32[4]\n", 1, 19, Diag::Syntax},
      {"%0 = buffer 4 {0, local, round 4} : f32[4]\n", 1, 26, Diag::Syntax},
      {"%0 = buffer 4 {0, local, ring 256} : f32[4]\n", 1, 26, Diag::Syntax},
      {"%0 = buffer 4 {0, local, ring 0} : f32[4]\n", 1, 26, Diag::Syntax},
      {"%0 = buffer 4 {0, local, swizzle 100} : f32[4]\n", 1, 26, Diag::Syntax},
      {"%0 = buffer 4 {0, local, swizzle 0} : f32[4]\n", 1, 26, Diag::Syntax},
      {"%0 = range 4 {0, spin} : index\n", 1, 18, Diag::Syntax},
      {"%0 = buffer 4 {0} : f32[4]\n%1 = permute %0 {1} : f32[4]\n", 2, 6, Diag::Syntax},
      {"%0 = buffer 4 {0} : f32[4] extra\n", 1, 21, Diag::ShapeMismatch},
      {"%0 = sink extra\n", 1, 11, Diag::Syntax},
      {"%0 = var {\"n, 0, 3} : index\n", 1, 28, Diag::Syntax},
      {"%0 = var {\"\\q\", 0, 3} : index\n", 1, 12, Diag::Syntax},
      {"", 1, 1, Diag::Syntax},
  };
  for (const Row& row : kRows) {
    INFO(row.text);
    Error error = parseError(row.text);
    CHECK(error->loc.line == row.line);
    CHECK(error->loc.column == row.column);
    CHECK(error->diag == row.diag);
    CHECK_FALSE(error->message.empty());
    CHECK_FALSE(error->help.empty());
  }
}
