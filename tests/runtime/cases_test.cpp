// Launches with cases: the first that holds at the sizes of a run is what runs.
#include "runtime/harness.h"

using namespace svod;

namespace {

/// z = x + w with n elements, where w says which kernel ran: 1 its own, 2 at n = 1, 3 at multiples of 4, 4 at most 3.
struct Fixture {
  TempFolder folder;
  PlanBuilder b;

  explicit Fixture(bool inLoop = false) {
    const Expr n = Expr::variable(b.variable("n", 1, 16)), multiple = Expr::make(ExprOp::Mod, n, 4);
    const BufferId x = b.input("x", 16, n), z = b.output("z", 16, n);
    std::vector<Launch> launches;
    for (float which : {1.0f, 2.0f, 3.0f, 4.0f}) {
      const BufferId w = b.constant("w", std::vector<float>(16, which));
      launches.push_back({0, {x, w, z}, {n}, {}});
    }
    launches[0].cases = {{{{n, 1, 1}}, launches[1]}, {{{multiple, 0, 0}}, launches[2]}, {{{n, 0, 3}}, launches[3]}};
    if (inLoop) b.step(Loop{b.variable("i", 0, 1, VariableKind::Loop), 2, 1});
    b.launch("k_add", launches[0].buffers, {R, R, W}, {n});
    std::get<Launch>(b.plan.steps[StepId(b.plan.steps.size() - 1)].action).cases = launches[0].cases;
    b.write(folder / "p");
  }
  static float resultAt(const InstanceHandle& instance, size_t n, uint64_t seed = 0) {
    const std::vector<float> x(n, 10);
    std::vector<float> z(n, -1);
    bindIn(instance, 0, x), bindOut(instance, 0, z);
    execute(instance, seed);
    for (float one : z) CHECK(one == z[0]);
    return z[0];
  }
};

}  // namespace

TEST_CASE("the first case that holds at the sizes of a run is taken, for each run anew") {
  Fixture f(GENERATE(false, true));
  const PlanHandle plan = loadPlan(f.folder / "p");
  const InstanceHandle instance = makeInstance(plan);
  for (const auto& [n, w] :
       std::vector<std::pair<size_t, float>>{{16, 3}, {1, 2}, {2, 4}, {5, 1}, {4, 3}, {1, 2}, {7, 1}})
    CHECK(Fixture::resultAt(instance, n) == 10 + w);
}

TEST_CASE("cases find their buffers where the arena of a run has them") {
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 1, 64));
  const BufferId x = b.input("x", 64, n), twice = b.arenaInUnits("twice", 64, n, 0, 1, 256),
                 sum = b.arenaInUnits("sum", 64, n, 1, 2, 256), z = b.output("z", 64, n);
  const BufferId one = b.constant("one", std::vector<float>(64, 1)), two = b.constant("two", std::vector<float>(64, 2));
  b.launch("k_double", {x, twice}, {R, W}, {n});
  b.launch("k_add", {twice, one, sum}, {R, R, W}, {n});
  std::get<Launch>(b.plan.steps[1].action).cases = {{{{n, 1, 1}}, {1, {twice, two, sum}, {n}, {}}}};
  b.launch("k_add", {twice, sum, z}, {R, R, W}, {n});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const InstanceHandle instance = makeInstance(plan);
  for (const auto& [size, w] : std::vector<std::pair<size_t, float>>{{64, 1}, {1, 2}, {20, 1}, {1, 2}, {64, 1}})
    CHECK(Fixture::resultAt(instance, size) == 40 + w);
}

TEST_CASE("a profile names the kernel of the case that ran") {
  Fixture f;
  f.b.plan.kernels.push_back(f.b.plan.kernels[0]);
  f.b.plan.kernels[1].name = "k_add_1";
  std::get<Launch>(f.b.plan.steps[0].action).cases[0].launch.kernel = 1;
  f.b.write(f.folder / "q");
  const PlanHandle plan = loadPlan(f.folder / "q");
  svod_instance_options options = {};
  options.profile = 1;
  const InstanceHandle instance = makeInstance(plan, options);
  for (const auto& [n, name] : std::vector<std::pair<size_t, std::string>>{{1, "k_add_1"}, {5, "k_add"}}) {
    Fixture::resultAt(instance, n);
    svod_profile_record record = {};
    REQUIRE(svod_profile_get(instance.get(), 0, &record) == 0);
    CHECK(record.name == name);
  }
}

TEST_CASE("threads take the same case") {
  Fixture f;
  const PlanHandle plan = loadPlan(f.folder / "p");
  const PoolHandle pool(svod_pool_create(3));
  REQUIRE(pool);
  svod_instance_options options = {};
  options.pool = pool.get();
  const InstanceHandle instance = makeInstance(plan, options);
  for (uint64_t seed : {1, 2, 3})
    for (const auto& [n, w] : std::vector<std::pair<size_t, float>>{{3, 4}, {8, 3}, {9, 1}})
      CHECK(Fixture::resultAt(instance, n, seed) == 10 + w);
}
