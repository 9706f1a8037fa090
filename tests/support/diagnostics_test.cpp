// The diagnostics table is a contract with scripts that read codes and exit statuses; the text form is one with people.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "support/diagnostics.h"
#include "support/result.h"

using namespace svod;

namespace {

bool isKebabCase(std::string_view text) {
  if (text.empty() || text.front() == '-' || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(Diag::Usage, "odd", "pass an even number");
  return value / 2;
}

Result<int> quarter(int value) {
  SVOD_TRY(const int once, half(value));
  SVOD_TRY(const int twice, half(once));
  return twice;
}

Status checkEven(int value) {
  SVOD_CHECK(half(value));
  return {};
}

}  // namespace

TEST_CASE("diagnostic codes are unique and kebab-case") {
  std::set<std::string_view> codes;
  for (const DiagInfo& row : allDiagnostics()) {
    INFO(row.code);
    CHECK(codes.insert(row.code).second);
    CHECK(isKebabCase(row.code));
    CHECK_FALSE(row.what.empty());
  }
  CHECK(codes.size() > 30);
}

TEST_CASE("diagnostics exit with a documented status") {
  constexpr std::array kExitCodes = {1, 2, 3, 4, 5, 6, 74, 75, 77};
  std::set<int> used;
  for (const DiagInfo& row : allDiagnostics()) {
    INFO(row.code);
    CHECK(std::find(kExitCodes.begin(), kExitCodes.end(), row.exitCode) != kExitCodes.end());
    used.insert(row.exitCode);
  }
  CHECK(used.size() == kExitCodes.size());
}

TEST_CASE("info finds the row of an enumerator") {
  CHECK(info(Diag::Syntax).code == "syntax");
  CHECK(info(Diag::Io).exitCode == 74);
  CHECK(info(Diag::NoDevice).code == "no-device");
  CHECK(&info(Diag::NoDevice) == &allDiagnostics().back());
}

TEST_CASE("an error prints place, message, code, notes and help") {
  const Error bare(Diag::Io, "cannot open x");
  CHECK(toText(bare) == "error: cannot open x [io]");

  const Error wholeFile = Error(bare).at({"a.svod", 0, 0});
  CHECK(toText(wholeFile) == "a.svod: error: cannot open x [io]");

  const Error full = Error(bare).at({"a.svod", 3, 7}).withNote("first").withNote("second").withHelp("check the name");
  CHECK(toText(full) ==
        "a.svod:3:7: error: cannot open x [io]\n"
        "  note: first\n"
        "  note: second\n"
        "  help: check the name");
}

TEST_CASE("errors travel through SVOD_TRY and SVOD_CHECK") {
  CHECK(quarter(12).value() == 3);
  REQUIRE_FALSE(quarter(6).has_value());
  CHECK(quarter(6).error()->help == "pass an even number");
  CHECK(checkEven(2).has_value());
  REQUIRE_FALSE(checkEven(3).has_value());
  CHECK(checkEven(3).error()->diag == Diag::Usage);
}
