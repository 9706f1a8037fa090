// Plans for several processors: the best for this machine runs, another one on request, and no code that is not run is
// looked at.
#include <thread>

#include "runtime/varied_plan.h"

using namespace svod;

namespace {

/// z = x + w, with other weights and in another file for the processor "here", which this machine is.
struct Fixture {
  TempFolder folder;
  std::string path = folder / "p";
  PlanBuilder b;

  Fixture() {
    const BufferId x = b.input("x", 4, Expr(4)), z = b.output("z", 4, Expr(4)), w = b.constant("w", {1, 2, 3, 4});
    b.launch("k_add", {x, w, z}, {R, R, W}, {Expr(4)});
    addVariants(b);
    b.plan.kernels.back().file = 1;
    write();
  }
  void write() {
    addHazardEdges(b.plan, StorageView::Placed);
    WeightsLayout layout(2);
    for (const std::vector<float>& values : b.weights) layout.add(std::as_bytes(std::span(values)));
    b.plan.constants = layout.constants();
    const std::span<const std::byte> code = std::as_bytes(std::span(compiledKernels()));
    const std::vector<PlanFile> files = {{"kernels.so", FileKind::Code, {code}},
                                         {"kernels-here.so", FileKind::Code, {code}},
                                         layout.file("weights.bin")};
    REQUIRE(writePlanDirectory(path, b.plan, files));
    REQUIRE(writePack(path + ".pack", b.plan, files));
  }
  void damage(const std::string& name) const {
    std::string code = readText(path + "/" + name);
    code[code.size() / 2] = static_cast<char>(code[code.size() / 2] ^ 1);
    writeText(path + "/" + name, code);
  }
};

PlanHandle load(const std::string& path, const char* cpu, svod_error& error) {
  svod_plan* plan = nullptr;
  const svod_load_options options = {0, cpu};
  svod_plan_load(path.c_str(), &options, &plan, &error);
  return PlanHandle(plan);
}
PlanHandle load(const std::string& path, const char* cpu) {
  svod_error error = {};
  PlanHandle plan = load(path, cpu, error);
  if (!plan) FAIL(error.message);
  return plan;
}

std::vector<float> result(const PlanHandle& plan) {
  const InstanceHandle instance = makeInstance(plan);
  const std::vector<float> x = {1, 1, 1, 1};
  std::vector<float> z(4);
  bindIn(instance, 0, x), bindOut(instance, 0, z);
  execute(instance);
  return z;
}

const std::vector<float> kOwn = {2, 3, 4, 5}, kHere = {11, 21, 31, 41};

}  // namespace

TEST_CASE("the best processor is taken, or the one that is asked for") {
  Fixture f;
  for (const std::string& path : {f.path, f.path + ".pack"}) {
    CHECK(result(load(path, nullptr)) == kHere);
    CHECK(result(load(path, "here")) == kHere);
    CHECK(result(load(path, f.b.plan.target.cpu.c_str())) == kOwn);
    svod_error error = {};
    CHECK(load(path, "other", error) == nullptr);
    CHECK(error.exit_code == 5);
    CHECK_THAT(std::string(error.message),
               Catch::Contains("has no code for CPU 'other', only for '") && Catch::Contains("'here', 'nowhere'"));
    CHECK(load(path, "nowhere", error) == nullptr);
    CHECK_THAT(std::string(error.message), Catch::Contains("this machine is no 'nowhere': it lacks warp-drive"));
  }
}

TEST_CASE("a plan says which processors it has code for, what they need, and which was taken") {
  Fixture f;
  const PlanHandle plan = load(f.path, nullptr);
  svod_plan_info info = {};
  svod_plan_get_info(plan.get(), &info);
  CHECK(info.cpu == std::string("here"));
  std::vector<std::string> seen;
  svod_processor p = {};
  for (size_t i = 0; svod_plan_processor(plan.get(), i, &p) == 0; i++)
    seen.push_back(std::string(p.name) + "|" + (i == 1 ? "" : p.features) + "|" + p.missing + "|" +
                   std::to_string(p.used));
  CHECK(seen == std::vector<std::string>{f.b.plan.target.cpu + "|||0", "here|||1", "nowhere|warp-drive|warp-drive|0"});
  CHECK(svod_plan_processor(plan.get(), SVOD_NONE, &p) != 0);
}

TEST_CASE("a machine that is none of the processors is told what the nearest one needs") {
  Fixture f;
  f.b.plan.target.features = {"gear", "lever"};
  f.b.plan.variants[0].features = {"avx", "gear", "lever", "wheel"};
  f.write();
  svod_error error = {};
  CHECK(load(f.path, nullptr, error) == nullptr);
  CHECK(error.exit_code == 5);
  CHECK(std::string(error.code) == "cpu-features");
  CHECK_THAT(std::string(error.message),
             Catch::Contains("for the CPUs '" + f.b.plan.target.cpu + "', 'here', 'nowhere'") &&
                 Catch::Contains("of what the nearest, 'nowhere', needs, this one lacks warp-drive"));
}

TEST_CASE("code of other processors is neither linked nor looked at, its size apart") {
  Fixture f;
  f.damage("kernels.so");
  CHECK(result(load(f.path, nullptr)) == kHere);
  svod_error error = {};
  CHECK(load(f.path, f.b.plan.target.cpu.c_str(), error) == nullptr);
  CHECK(std::string(error.code) == "plan-checksum");
  CHECK(!readPlan(f.path));  // tools look at all of it
  writeText(f.path + "/kernels.so", "");
  CHECK(load(f.path, nullptr, error) == nullptr);
  CHECK(std::string(error.code) == "plan-checksum");
}

TEST_CASE("damaged code of the processor that is taken is noticed") {
  Fixture f;
  f.damage("kernels-here.so");
  svod_error error = {};
  CHECK(load(f.path, nullptr, error) == nullptr);
  CHECK(std::string(error.code) == "plan-checksum");
  CHECK(result(load(f.path, f.b.plan.target.cpu.c_str())) == kOwn);
}

TEST_CASE("eight threads load one pack at once, and run their instances of two processors of it") {
  Fixture f;
  const std::string own = f.b.plan.target.cpu;
  std::vector<int> right(8, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 10; round++) {
        const PlanHandle plan = load(f.path + ".pack", t % 2 == 0 ? nullptr : own.c_str());
        for (int run = 0; run < 5; run++) right[static_cast<size_t>(t)] += result(plan) == (t % 2 == 0 ? kHere : kOwn);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(8, 50));
}
