// Loads and stores that leave their buffers are found, with the point at which they do.
#include <catch2/catch.hpp>
#include <string>

#include "common/uop_text.h"
#include "ir/verify_access.h"

using namespace svod;

TEST_CASE("the bounds message names the point that leaves the buffer") {
  Graph graph;
  UOp root = parse(graph,
                   "%0 = param 4 {0} : i32[4]\n%1 = range 5 {7, loop} : index\n%2 = index %0, %1 : i32\n"
                   "%3 = store %2, 1:i32\n%4 = end %3, %1\n%5 = sink %4");
  Status status = verify(root, Stage::Kernel);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error()->message.find("r7 = 4") != std::string::npos);
  CHECK(verify(root, Stage::Kernel, {.enumerate = 0}).has_value());
}

TEST_CASE("the cheap check of addresses finds accesses that leave their buffer at the ends of loops and variables") {
  struct Case {
    const char* text;
    const char* at;  // part of the message; null: nothing is wrong
  };
  const Case kCases[] = {
      {"%0 = var {\"n\", 0, 512} : index\n%1 = param %0 {0} : f32[n]\n%2 = range 5000000 {1, thread} : index\n"
       "%3 = mul %2, 64 : index\n%4 = ramp %3 {64} : index[64]\n%5 = index %1, %4 : f32[64]\n%6 = store %5, 0:f32\n"
       "%7 = end %6, %2\n%8 = sink %7",
       "n = 0"},
      {"%0 = var {\"n\", 1, 512} : index\n%1 = param %0 {0} : f32[n]\n%2 = range %0 {1, loop} : index\n"
       "%3 = index %1, %2 : f32\n%4 = store %3, 0:f32\n%5 = end %4, %2\n%6 = sink %5",
       nullptr},
      {"%0 = var {\"n\", 0, 512} : index\n%1 = var {\"m\", 0, 512} : index\n%2 = param %0 {0} : f32[n]\n"
       "%3 = range %1 {1, loop} : index\n%4 = index %2, %3 : f32\n%5 = lt %3, %0 : bool\n%6 = store %4, 0:f32, %5\n"
       "%7 = end %6, %3\n%8 = sink %7",
       nullptr},
      {"%0 = var {\"n\", 0, 512} : index\n%1 = param 512 {0} : f32[512]\n%2 = range %0 {1, loop} : index\n"
       "%3 = add %2, 1 : index\n%4 = index %1, %3 : f32\n%5 = store %4, 0:f32\n%6 = end %5, %2\n%7 = sink %6",
       "r1 = 511"},
      {"%0 = var {\"n\", 0, 512} : index\n%1 = param %0 {0} : f32[n]\n%2 = range %0 {1, loop} : index\n"
       "%3 = range 1 {2, loop} : index\n%4 = index %1, %3 : f32\n%5 = store %4, 0:f32\n%6 = end %5, %2, %3\n%7 = sink "
       "%6",
       nullptr},
  };
  for (const Case& c : kCases) {
    Graph graph;
    INFO(c.text);
    Status status = checkAccesses(parse(graph, c.text), Stage::Lowered, 0);
    CHECK(status.has_value() == (c.at == nullptr));
    if (!status && c.at != nullptr) CHECK(status.error()->message.find(c.at) != std::string::npos);
  }
}
