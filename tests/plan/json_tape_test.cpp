// The reader of JSON against the one of the library that the compiler uses.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "plan/json_tape.h"

using namespace svod;
using Json = nlohmann::ordered_json;

namespace {

/// The tape as the other library has it; Real numbers, which a tape does not hold, as 0.5.
Json asJson(const JsonTape& tape, uint32_t at) {
  const JsonToken& token = tape[at];
  switch (token.type) {
    case JsonType::Null: return nullptr;
    case JsonType::Bool: return token.number != 0;
    case JsonType::Integer: return token.isNegative ? Json(static_cast<int64_t>(0 - token.number)) : Json(token.number);
    case JsonType::Real: return 0.5;
    case JsonType::String: return std::string(tape.text(at));
    case JsonType::Array: break;
    case JsonType::Object: break;
  }
  const bool isArray = token.type == JsonType::Array;
  Json out = isArray ? Json::array() : Json::object();
  uint32_t next = at + 1;
  for (uint64_t i = 0; i < token.number; i++) {
    const std::string name = isArray ? "" : std::string(tape.text(next++));
    isArray ? out.push_back(asJson(tape, next)) : void(out[name] = asJson(tape, next));
    if (!isArray) CHECK(tape.find(at, name) == next);
    next = tape[next].end;
  }
  CHECK(next == token.end);
  return out;
}

const std::string kText = R"({"a": [1, -2, 0, 18446744073709551615, -9223372036854775808, 0.5, 5e-1],
  "b\n\u00e9\ud83d\ude00": {"": null, "t": true, "f": false, "e": {}, "l": []}, "ü": "x\\\"\/\b\f\r\t y"})";

}  // namespace

TEST_CASE("a tape holds what a text says") {
  const auto tape = JsonTape::parse(kText);
  REQUIRE(tape);
  Json expected = Json::parse(kText);
  CHECK(asJson(*tape, 0) == expected);
  CHECK(tape->find(0, "none") == 0);
}

TEST_CASE("changed texts are refused or read as the other library does") {
  std::mt19937 random(11);
  const std::string letters = "{}[]\",:\\0123456789-+.eEtrufalsn \n\x01\x80\xc3\xa9/";
  int accepted = 0, refused = 0, stricter = 0;
  for (int round = 0; round < 60000; round++) {
    std::string text = round % 2 == 0 ? kText : R"([{"k":[0,"v"],"m":-1},"\u0041",12])";
    for (uint32_t changes = 1 + random() % 3; changes > 0; changes--) {
      const size_t at = random() % text.size();
      const std::string letter(1, letters[random() % letters.size()]);
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 4);
      else
        text.replace(at, random() % 2, letter);
      if (text.empty()) text = "1";
    }
    INFO(text);
    const auto tape = JsonTape::parse(text);
    const Json other = Json::parse(text, nullptr, false);
    (tape ? accepted : refused)++;
    if (tape) {
      bool hasReals = false;  // whose values are not read, and may be beyond all that a double holds
      for (uint32_t at = 0; at < (*tape)[0].end; at++) hasReals |= (*tape)[at].type == JsonType::Real;
      if (!hasReals) REQUIRE(!other.is_discarded());
      if (!hasReals) REQUIRE(asJson(*tape, 0) == other);
    } else if (!other.is_discarded()) {
      stricter++;  // members that are there twice, integers beyond 64 bits
    }
  }
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
  CHECK(stricter < refused / 20);
}

TEST_CASE("deep, wide and doubled texts are refused") {
  CHECK(JsonTape::parse(std::string(64, '[') + std::string(64, ']')));
  CHECK(!JsonTape::parse(std::string(65, '[') + std::string(65, ']')));
  CHECK(!JsonTape::parse(R"({"a":1,"a":1})"));
  std::string wide = "{";
  for (int i = 0; i < 1001; i++) wide += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
  CHECK(!JsonTape::parse(wide + "}"));
  for (const char* wrong : {"", " ", "01", "-", "1.", ".5", "1e", "tru", "\"", "\"\\x\"", "\"\\ud800\"", "[1,]",
                            "{\"a\"}", "{1:2}", "1 2", "nul", "18446744073709551616", "\"\x80\"", "\"\n\""})
    CHECK(!JsonTape::parse(wrong));
}
