#include "data/read_json.h"

#include <catch2/catch.hpp>

using namespace svod;

TEST_CASE("JSON is read as nlohmann's parser reads it, up to the levels asked for") {
  for (const char* text : {"1", "-1", "1.5", "\"a\"", "null", "true", "[]", "{}",
                           R"({"a": [1, {"b": "c"}], "d": null})", R"([[1, 2], [], "x"])", "18446744073709551615"}) {
    INFO(text);
    CHECK(readJson(text, 3) == nlohmann::json::parse(text));
  }
  CHECK(*readJson(R"({"a": {"b": {"c": [1]}}, "d": [[[2]]], "e": 5})", 2) ==
        nlohmann::json::parse(R"({"a": {"b": null}, "d": [null], "e": 5})"));
  CHECK(*readJson("[[], 1]", 0) == nlohmann::json());
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "1 2", "\"\xff\"", "nan", "1e999"}) {
    INFO(text);
    CHECK_FALSE(readJson(text, 3).has_value());
  }
}

TEST_CASE("a member of the outermost object that occurs again is named") {
  std::string twice;
  CHECK(readJson(R"({"a": 1, "b": {"a": 2, "a": 3}})", 3, &twice));
  CHECK(twice.empty());
  CHECK(*readJson(R"({"a": 1, "b": 2, "a": 3})", 3, &twice) == nlohmann::json::parse(R"({"a": 3, "b": 2})"));
  CHECK(twice == "a");
}
