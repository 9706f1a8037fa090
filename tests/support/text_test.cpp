#include "support/text.h"

#include <catch2/catch.hpp>

#include "support/aligned_bytes.h"
#include "support/result.h"
#include "support/says.h"
#include "support/utf8.h"

using namespace svod;

TEST_CASE("long texts are cut between characters, and say so") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "abc..");
  CHECK(shortened("ab\u00e9d", 3) == "ab..");
  CHECK(shortened("ab\u00e9d", 4) == "ab\u00e9..");
  CHECK(shortened("\x80\x80\x80", 2) == "..");
  CHECK(shortened(std::string(101, 'x')) == std::string(100, 'x') + "..");
}

TEST_CASE("what steers a terminal is shown as an escape, and letters of any language as they are") {
  CHECK(printable("gr\u00f6\u00dfe \u20ac \U0001f600 a\\b") == "gr\u00f6\u00dfe \u20ac \U0001f600 a\\b");
  CHECK(printable("a\x1b]0;x\x07") == "a\\x1b]0;x\\x07");
  CHECK(printable("a\nb\tc\r") == "a\\nb\\tc\\r");
  CHECK(printable("a\nb\tc\r", Lines::Kept) == "a\nb\tc\\r");
  CHECK(printable(std::string_view("\0\x7f", 2)) == "\\x00\\x7f");
  CHECK(printable("\u009b31m \u202eabc \u2066 \u2028 \ufeff") ==
        "\\u{9b}31m \\u{202e}abc \\u{2066} \\u{2028} \\u{feff}");
  CHECK(printable("\x9b\xff\xc3") == "\\x9b\\xff\\xc3");
  CHECK(printable("").empty());
  const Error error = Error(Diag::Io, "no '\x1b[2J\nerror: x'", "try '\r'", {"a\nb", 1, 2}).withNote("n\n");
  CHECK(toText(error) == "a\\nb:1:2: error: no '\\x1b[2J\\nerror: x' [io]\n  note: n\\n\n  help: try '\\r'");
}

TEST_CASE("words are quoted where a shell would split or change them") {
  CHECK(shellWord("layer.1/x:0=1x3") == "layer.1/x:0=1x3");
  CHECK(shellWord("batch size=8") == "'batch size=8'");
  CHECK(shellWord("it's") == "'it'\\''s'");
  CHECK(shellWord("") == "''");
}

TEST_CASE("the first byte that is not UTF-8 is found") {
  for (const char* good :
       {"", "abc", "gr\u00f6\u00dfe", "\u20ac", "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", "\U00010000\U0010ffff"})
    CHECK_FALSE(firstNotUtf8(good));
  const std::pair<std::string, size_t> bad[] = {
      {"\xff", 0},
      {"ab\x80", 2},
      {"a\xc3", 1},
      {"\xc0\xaf", 0},  // overlong
      {"\xc1\xbf", 0},
      {"\xe0\x9f\xbf", 0},
      {"\xf0\x8f\xbf\xbf", 0},
      {"\xe2\x82", 0},  // cut
      {"\xe2\x82z\x82", 0},
      {"x\xed\xa0\x80", 1},     // half a pair
      {"\xf4\x90\x80\x80", 0},  // above U+10FFFF
      {"\u00f6\xf5z", 2},
  };
  for (const auto& [text, at] : bad) {
    INFO(text);
    REQUIRE(firstNotUtf8(text));
    CHECK(*firstNotUtf8(text) == at);
    CHECK_FALSE(firstNotUtf8(toUtf8(text)));
  }
  CHECK(notUtf8Text("a\xfe", 1) == "byte 0xfe is not UTF-8");
  CHECK(toUtf8("a\xff\xc3z") == "a\ufffd\ufffdz");
  CHECK(toUtf8("\u00f6") == "\u00f6");
}

TEST_CASE("aligned bytes begin where a cache line does, also after they grew") {
  std::vector<AlignedBytes> all;
  for (const size_t size : {1, 63, 64, 1000, 1 << 20}) {
    all.emplace_back(size, std::byte{7});
    for (int more = 0; more < 3; ++more) {
      CHECK(reinterpret_cast<uintptr_t>(all.back().data()) % kLineBytes == 0);
      all.back().resize(2 * all.back().size() + 1);
    }
    CHECK(all.back()[size - 1] == std::byte{7});
  }
}

TEST_CASE("what an error says is made of texts and numbers") {
  const std::string name = "x";
  CHECK(says({"axis ", 3u, " of '", name, "' is ", std::string_view("odd"), ": ", INT64_MIN, ", ", -1, ", ",
              UINT64_MAX}) == "axis 3 of 'x' is odd: -9223372036854775808, -1, 18446744073709551615");
  CHECK(says({}).empty());
}
