#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "common/temp_folder.h"
#include "plan/check.h"
#include "plan/json.h"
#include "plan/sample.h"

using namespace svod;

namespace {

template <class List, class Index>
concept FindsRow = requires(List list, Index index) { list[index]; };

}  // namespace

TEST_CASE("an id finds rows of its own list only") {
  STATIC_REQUIRE(FindsRow<Rows<BufferDesc>, BufferId>);
  STATIC_REQUIRE_FALSE(FindsRow<Rows<BufferDesc>, StepId>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<StepId, BufferId>);
  Plan plan;
  plan.buffers.resize(3);
  plan.buffers[2].name = "last";
  CHECK(plan.buffers[BufferId(plan.buffers.size() - 1)].name == "last");
}

TEST_CASE("plan.json: what was written is read, byte for byte the same again") {
  const Plan plan = std::array{samplePlan(),     sampleGridPlan(),  sampleVariantsPlan(),
                               sampleArchPlan(), sampleCasesPlan(), sampleRunPlan()}[GENERATE(0u, 1u, 2u, 3u, 4u, 5u)];
  REQUIRE(check(plan));
  const std::string text = toJson(plan);
  auto back = planFromJson(text, "plan.json");
  REQUIRE(back);
  CHECK(*back == plan);
  CHECK(toJson(*back) == text);
  CHECK(text.find(R"("bytes": "n*4")") != std::string::npos);
  CHECK(toJson(*planFromJson(toJson(Plan{}), "empty")) == toJson(Plan{}));
}

TEST_CASE("plan.json: a version before is read as one of today") {
  std::string text = toJson(samplePlan());
  const std::string current = "\"version\": " + std::to_string(kPlanVersion);
  text.replace(text.find(current), current.size(), "\"version\": " + std::to_string(kOldestPlanVersion));
  const auto plan = planFromJson(withChecksum(text), "plan.json");
  REQUIRE(plan);
  CHECK(*plan == samplePlan());
}

TEST_CASE("plan.json: every changed byte is noticed") {
  const std::string text = toJson(samplePlan());
  for (size_t at = 0; at < text.size(); at++)
    for (int flip : {0x01, 0x20, 0x80}) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      auto result = planFromJson(changed, "plan.json");
      if (result) FAIL("byte " << at << " flipped by " << flip << " was not noticed");
      CHECK(info(result.error()->diag).exitCode == 5);
    }
  for (size_t size = 0; size < text.size(); size++) CHECK(!planFromJson(text.substr(0, size), "plan.json"));
}

TEST_CASE("plan.json: another version is named as such") {
  std::string text = toJson(samplePlan());
  const std::string current = "\"version\": " + std::to_string(kPlanVersion);
  text.replace(text.find(current), current.size(), "\"version\": 999");
  auto result = planFromJson(withChecksum(text), "plan.json");
  REQUIRE(!result);
  CHECK(result.error()->diag == Diag::PlanVersion);
  CHECK(result.error()->message.find("version 999") != std::string::npos);
}

TEST_CASE("plan.json: a place in units is that of an arena, in place of an offset") {
  const std::string text = toJson(sampleRunPlan());
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    REQUIRE(changed.find(from) != std::string::npos);
    changed.replace(changed.find(from), from.size(), to);
    auto result = planFromJson(withChecksum(changed), "plan.json");
    REQUIRE(!result);
    return result.error()->message;
  };
  const std::string place = R"("run": {"begin": 0, "end": 1, "bytes": "n*4"})";
  CHECK_THAT(message(place, place + ", \"offset\": 64"), Catch::Contains("buffers[2]: it has a member"));
  CHECK_THAT(message("\"place\": \"input\"", "\"place\": \"input\", " + place), Catch::Contains("buffers[0]: it has"));
  CHECK_THAT(message("\"bytes\": \"n*4\"", "\"bytes\": \"k*4\""), Catch::Contains("buffers[2].run.bytes"));
}

TEST_CASE("plan.json: members are strict, and errors say where") {
  const auto message = [](const std::string& from, const std::string& to) {
    std::string text = toJson(samplePlan());
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    auto result = planFromJson(withChecksum(text), "plan.json");
    REQUIRE(!result);
    CHECK(result.error()->diag == Diag::BadPlan);
    return result.error()->message;
  };
  CHECK(message("\"arenaBytes\": 512", "\"arenaBytes\": -1").find("devices[0].arenaBytes: a size") !=
        std::string::npos);
  CHECK(message("\"arenaBytes\": 512", "\"arenaBites\": 512").find("'arenaBytes' is missing") != std::string::npos);
  CHECK(message("\"decisions\"", "\"more\": 1, \"decisions\"").find("does not know") != std::string::npos);
  CHECK(message("\"dtype\": \"f32\"", "\"dtype\": \"f31\"").find("buffers[0].dtype") != std::string::npos);
  CHECK(message("\"place\": \"input\"", "\"place\": \"lost\"").find("'lost'") != std::string::npos);
  CHECK(message("\"n*4\"", "\"k*4\"").find("steps[1].copy.bytes") != std::string::npos);
  CHECK(message("\"copy\"", "\"copied\"").find("launch") != std::string::npos);
  CHECK(message("\"length\": 2", "\"length\": 4294967296").find("too large") != std::string::npos);
  CHECK(message("\"min\": 1", "\"min\": 9223372036854775808").find("too large") != std::string::npos);
}

TEST_CASE("plan.json: a grid is in place of a file with tiles, and its lists have three elements") {
  const std::string text = toJson(sampleGridPlan());
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    auto result = planFromJson(withChecksum(changed), "plan.json");
    REQUIRE(!result);
    return result.error()->message;
  };
  CHECK(text.find(R"~("grid": {"groups": ["ceildiv(n,4)", 2, 1], "threads": [4, 2, 1])~") != std::string::npos);
  CHECK_THAT(message("\"threads\": [4, 2, 1]", "\"threads\": [4, 2]"),
             Catch::Contains("kernels[1].grid.threads: a list of 3 was expected"));
  CHECK_THAT(message("\"tiles\"", "\"grid\""), Catch::Contains("kernels[0]"));
  CHECK_THAT(message("\"grid\": {", "\"tiles\": 1, \"grid\": {"), Catch::Contains("does not know"));
  CHECK_THAT(message("\"space\": \"shared\"", "\"space\": \"far\""), Catch::Contains("'far'"));
}

TEST_CASE("the record of code depends on every number of the manifest but the size and checksum of code") {
  Plan plan = samplePlan();
  plan.files = {{"kernels.so", FileKind::Code, 1234, std::string(64, 'a')},
                {"weights.bin", FileKind::Weights, 256, std::string(64, 'b')}};
  const std::string record = codeRecord(toJson(plan));
  CHECK(record.size() == std::string_view("\n//svod plan \n").size() + 64);
  Plan other = plan;
  other.files[FileId(0)].bytes = 7, other.files[FileId(0)].sha256 = std::string(64, 'c');
  CHECK(codeRecord(toJson(other)) == record);
  other.files[FileId(1)].bytes = 7;
  CHECK(codeRecord(toJson(other)) != record);
  for (const std::string text : {"", "{}", "[1]", R"({"files": 1})", R"({"files": [{"kind": 1}, 2]})",
                                 R"({"files": [{"sha256": "\u0061", "bytes": 1, "kind": "code"}]})"})
    CHECK(codeRecord(text) != record);
}

TEST_CASE("plan directory: written, read, replaced, and a folder with other files is left alone") {
  TempFolder folder;
  Plan plan = samplePlan();
  const std::string code(100, 'c'), weights(256, 'w');
  const std::vector<PlanFile> files = {{"kernels.so", FileKind::Code, {std::as_bytes(std::span(code))}},
                                       {"weights.bin", FileKind::Weights, {std::as_bytes(std::span(weights))}}};
  REQUIRE(writePlanDirectory(folder / "p", plan, files));
  REQUIRE(writePlanDirectory(folder / "p", plan, files));
  auto back = readPlanDirectory(folder / "p");
  REQUIRE(back);
  const std::string written = readText(folder / "p/kernels.so");
  CHECK(written == code + codeRecord(toJson(*back)));
  const std::vector<PlanFile> withRecord = {{"kernels.so", FileKind::Code, {std::as_bytes(std::span(written))}},
                                            files[1]};
  plan.files = describeFiles(withRecord);
  CHECK(*back == plan);
  writeText(folder / "p/notes.txt", "mine");
  auto refused = writePlanDirectory(folder / "p", plan, files);
  REQUIRE(!refused);
  CHECK(refused.error()->diag == Diag::Io);
  CHECK(readText(folder / "p/notes.txt") == "mine");
  CHECK(!readPlanDirectory(folder / "none"));
  writeText(folder / "p/kernels.so", std::string(99, 'c') + "d");
  CHECK(readPlanDirectory(folder / "p").error()->diag == Diag::PlanChecksum);
  writeText(folder / "p/kernels.so", written);
  writeText(folder / "p/weights.bin", weights + "w");
  CHECK(readPlanDirectory(folder / "p").error()->diag == Diag::PlanChecksum);
  std::filesystem::remove(folder / "p/weights.bin");
  CHECK(readPlanDirectory(folder / "p").error()->diag == Diag::BadPlan);
  std::filesystem::remove(folder / "p/plan.json");
  CHECK(readPlanDirectory(folder / "p").error()->diag == Diag::BadPlan);
}

TEST_CASE("a folder with some files of a plan is replaced, and one whose files might be somebody's is not") {
  const std::string code(100, 'c'), weights(256, 'w');
  const std::vector<PlanFile> files = {{"kernels.so", FileKind::Code, {std::as_bytes(std::span(code))}},
                                       {"weights.bin", FileKind::Weights, {std::as_bytes(std::span(weights))}}};
  const std::vector<std::string> names = {"plan.json", "kernels.so", "weights.bin"};
  for (unsigned left = 0; left < 8; ++left) {  // what somebody's clean left there, by every way to leave something
    TempFolder folder;
    const std::string path = folder / "p";
    REQUIRE(writePlanDirectory(path, samplePlan(), files));
    for (size_t i = 0; i < names.size(); ++i)
      if ((left >> i & 1) == 0) std::filesystem::remove(path + "/" + names[i]);
    CHECK(checkPlanTarget(path));
    CHECK(writePlanDirectory(path, samplePlan(), files));
    CHECK(readPlanDirectory(path));
    for (size_t i = 0; i < names.size(); ++i)
      if ((left >> i & 1) == 0) std::filesystem::remove(path + "/" + names[i]);
    const std::string others(300, 'v');
    const std::vector<PlanFile> changed = {files[0],
                                           {"weights.bin", FileKind::Weights, {std::as_bytes(std::span(others))}}};
    const Status replaced = writePlanDirectory(path, samplePlan(), changed);
    CHECK(replaced.has_value() == (left != 4));  // weights alone might be anybody's
    if (!replaced) CHECK_THAT(replaced.error()->message, Catch::Contains("holds 'weights.bin'"));
  }
  for (const char* name : {"notes.txt", "kernels.sm_80", "plan.json", "weights.bin.old"}) {
    TempFolder folder;
    REQUIRE(writePlanDirectory(folder / "p", samplePlan(), files));
    writeText(folder / ("p/" + std::string(name)), "mine");
    std::filesystem::remove(folder / "p/kernels.so");
    const Status refused = writePlanDirectory(folder / "p", samplePlan(), files);
    REQUIRE(!refused);
    CHECK_THAT(refused.error()->message, Catch::Contains("holds '" + std::string(name) + "'"));
    CHECK(readText(folder / ("p/" + std::string(name))) == "mine");
  }
}

TEST_CASE("weights: aligned, shared when the same, described as written") {
  const std::string a(10, 'a'), b(64, 'b');
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  WeightsLayout layout(1);
  CHECK(layout.add(bytes(a)) == 0);
  CHECK(layout.add(bytes(b)) == 1);
  CHECK(layout.add(bytes(a)) == 0);
  CHECK(layout.add({}) == 2);
  CHECK(layout.constants() == std::vector<Constant>{{1, 0, 10}, {1, 64, 64}, {1, 128, 0}});
  const std::vector<PlanFile> files = {layout.file("weights.bin")};
  CHECK(describeFiles(files)[0].bytes == 128);
}
