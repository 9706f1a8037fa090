// Damaged, foreign and wrong plans: one clear error each, nothing runs.
#include "data/sha256.h"
#include "plan/json.h"
#include "runtime/changed_numbers.h"
#include "runtime/varied_plan.h"

using namespace svod;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  TempFolder folder;
  PlanBuilder builder;
  std::string path = folder / "p";

  Fixture() {
    const BufferId x = builder.input("x", 4, Expr(4)), y = builder.output("y", 4, Expr(4)),
                   w = builder.constant("w", {1, 2, 3, 4});
    builder.launch("k_add", {x, w, y}, {R, R, W}, {Expr(4)});
    builder.write(path);
  }
  /// Replaces text in plan.json and gives it the checksum that belongs to it.
  void edit(const std::string& from, const std::string& to) {
    std::string text = readText(path + "/plan.json");
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    writeText(path + "/plan.json", withChecksum(text));
  }
  void refused(int code, const std::string& name, const std::string& text) {
    const svod_error error = loadError(path);
    INFO(error.message);
    CHECK(error.exit_code == code);
    CHECK(std::string(error.code) == name);
    CHECK(std::string(error.message).find(text) != std::string::npos);
  }
};

}  // namespace

TEST_CASE("every changed byte of the code is noticed") {
  Fixture f;
  const std::string code = readText(f.path + "/kernels.so");
  for (size_t at = 0; at < code.size(); at += 211) {
    std::string changed = code;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    writeText(f.path + "/kernels.so", changed);
    const svod_error error = loadError(f.path);
    if (std::string(error.code) != "plan-checksum") FAIL("byte " << at << ": " << error.message);
  }
  writeText(f.path + "/kernels.so", code);
  loadPlan(f.path);
}

TEST_CASE("every changed byte of the manifest is noticed, and so is every cut") {
  Fixture f;
  const std::string json = readText(f.path + "/plan.json");
  for (size_t at = 0; at < json.size(); at += 41) {
    std::string changed = json;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    writeText(f.path + "/plan.json", changed);
    CHECK(loadError(f.path).exit_code == 5);
    writeText(f.path + "/plan.json", json.substr(0, at));
    CHECK(loadError(f.path).exit_code == 5);
  }
}

TEST_CASE("weights: a wrong size always, a changed byte unless they are large or trusted") {
  Fixture f;
  std::string weights = readText(f.path + "/weights.bin");
  weights[5] ^= 4;
  writeText(f.path + "/weights.bin", weights);
  CHECK(std::string(loadError(f.path).code) == "plan-checksum");
  CHECK(std::string(loadError(f.path, 1).code) == "plan-checksum");
  svod_plan* trusted = nullptr;
  const svod_load_options never = {-1, nullptr};
  CHECK(svod_plan_load(f.path.c_str(), &never, &trusted, nullptr) == 0);
  svod_plan_free(trusted);
  const FileDesc large{"weights.bin", FileKind::Weights, kSmallWeights, {}};
  CHECK(checksumFor(large, WeightsCheck::Small) == Checksum::Skip);
  CHECK(checksumFor(large, WeightsCheck::Always) == Checksum::Compare);
  writeText(f.path + "/weights.bin", weights + "x");
  f.refused(5, "plan-checksum", "has 17 bytes, the plan says 16");
}

TEST_CASE("missing files and folders") {
  Fixture f;
  fs::remove(f.path + "/weights.bin");
  f.refused(5, "bad-plan", "weights.bin");
  fs::remove(f.path + "/kernels.so");
  f.refused(5, "bad-plan", "kernels.so");
  fs::remove(f.path + "/plan.json");
  f.refused(5, "bad-plan", "plan.json");
  f.path = f.folder / "none";
  f.refused(74, "io", "none/plan.json");
}

TEST_CASE("versions, paths, indices and offsets") {
  SECTION("version") {
    Fixture f;
    f.edit("\"version\": " + std::to_string(kPlanVersion), "\"version\": 1");
    f.refused(5, "plan-version",
              "has plan version 1, this reader accepts versions " + std::to_string(kOldestPlanVersion) + " to " +
                  std::to_string(kPlanVersion));
  }
  SECTION("path") {
    Fixture f;
    f.edit("\"kernels.so\"", "\"../kernels.so\"");
    f.refused(5, "plan-path", "'../kernels.so'");
  }
  SECTION("absolute path") {
    Fixture f;
    f.edit("\"path\": \"weights.bin\"", "\"path\": \"/etc/hostname\"");
    f.refused(5, "plan-path", "/etc/hostname");
  }
  SECTION("buffer index") {
    Fixture f;
    f.edit("\"buffers\": [0, 2, 1]", "\"buffers\": [0, 2, 3]");
    f.refused(5, "bad-plan", "steps[0]: there is no buffer 3 of 3");
  }
  SECTION("constant offset") {
    Fixture f;
    f.edit("{\"file\": 1, \"offset\": 0, \"bytes\": 16}", "{\"file\": 1, \"offset\": 64, \"bytes\": 16}");
    f.refused(5, "bad-plan", "outside its file");
  }
  SECTION("argument larger than its buffer") {
    Fixture f;
    f.edit("\"mode\": \"write\", \"bytes\": 16", "\"mode\": \"write\", \"bytes\": 20");
    f.refused(5, "bad-plan", "does not fit argument 2");
  }
  SECTION("symbol") {
    Fixture f;
    f.edit("\"symbol\": \"k_add\"", "\"symbol\": \"k_sub\"");
    f.refused(5, "plan-checksum", "was compiled with another plan.json");
  }
}

TEST_CASE("every changed number of a manifest is refused, with a repaired checksum too") {
  TempFolder folder;
  PlanBuilder b;
  addVariedSteps(b);
  b.write(folder / "p");
  loadPlan(folder / "p");
  size_t tried = 0;
  CHECK(acceptedNumbers(folder / "p", tried) == std::set<std::string>());
  CHECK(tried > 400);
}

TEST_CASE("a plan of a release without a record in its code is taken") {
  Fixture f;
  std::string code = readText(f.path + "/kernels.so"), json = readText(f.path + "/plan.json");
  const size_t whole = code.size(), record = code.rfind("\n//svod plan ");
  REQUIRE(record != std::string::npos);
  const std::string before = "\"bytes\": " + std::to_string(whole) + ", \"sha256\": \"" + sha256Hex(code);
  code.resize(record);
  f.edit(before, "\"bytes\": " + std::to_string(record) + ", \"sha256\": \"" + sha256Hex(code));
  writeText(f.path + "/kernels.so", code);
  loadPlan(f.path);
}

TEST_CASE("machines: architecture, system and CPU features") {
  SECTION("architecture") {
    Fixture f;
    f.edit("\"triple\": \"", "\"triple\": \"riscv64-unknown-linux-gnu");
    f.refused(5, "cpu-features", "the plan is for riscv64-unknown-linux-gnu");
  }
  SECTION("feature") {
    Fixture f;
    f.edit("\"features\": []", "\"features\": [\"from-the-future\"]");
    f.refused(5, "cpu-features", "this one lacks from-the-future");
  }
  SECTION("source only") {
    Fixture f;
    f.edit("\"kind\": \"code\"", "\"kind\": \"source\"");
    f.refused(3, "unsupported", "not machine code");
  }
}

TEST_CASE("code that is no shared library") {
  Fixture f;
  const std::string junk(100, 'j');
  TempFolder other;
  f.builder.write(other / "p", junk);
  f.path = other / "p";
  f.refused(5, "bad-plan", "cannot link");
}

TEST_CASE("more memory than the machine has is an error, not a crash") {
  TempFolder folder;
  PlanBuilder b;
  b.plan.devices[0].arenaBytes = UINT64_C(1) << 55;
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  svod_plan_info info = {};
  svod_plan_get_info(plan.get(), &info);
  CHECK(info.arena_bytes == UINT64_C(1) << 55);
  svod_instance* instance = nullptr;
  svod_error error = {};
  CHECK(svod_instance_create(plan.get(), nullptr, &instance, &error) == 6);
  CHECK(std::string(error.message).find("36028797018963968 bytes for arena") != std::string::npos);
}
