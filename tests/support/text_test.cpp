#include "support/text.h"

#include <catch2/catch.hpp>

using namespace svod;

TEST_CASE("long texts are cut between characters, and say so") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "abc..");
  CHECK(shortened("ab\u00e9d", 3) == "ab..");
  CHECK(shortened("ab\u00e9d", 4) == "ab\u00e9..");
  CHECK(shortened("\x80\x80\x80", 2) == "..");
  CHECK(shortened(std::string(101, 'x')) == std::string(100, 'x') + "..");
}

TEST_CASE("words are quoted where a shell would split or change them") {
  CHECK(shellWord("layer.1/x:0=1x3") == "layer.1/x:0=1x3");
  CHECK(shellWord("batch size=8") == "'batch size=8'");
  CHECK(shellWord("it's") == "'it'\\''s'");
  CHECK(shellWord("") == "''");
}
