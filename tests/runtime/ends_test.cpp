// Runs that end otherwise than with results.
#include "runtime/harness.h"

using namespace svod;

TEST_CASE("a run that does not meet an expectation fails, however it is run") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId x = b.input("x", 4, 4, ElementType::I64), y = b.output("y", 4, 4, ElementType::I64);
  const BufferId both = b.arena("both", 4, ElementType::I64);
  b.plan.buffers[both].shape = {2, 2};
  b.step(Copy{both, x, 32});
  b.step(Copy{y, x, 32});
  b.plan.expectations = {{both, ExpectationKind::Agrees, "the sizes"}};
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const PoolHandle pool(svod_pool_create(2));
  for (bool isShared : {false, true}) {
    svod_instance_options options = {};
    options.pool = isShared ? pool.get() : nullptr;
    const InstanceHandle instance = makeInstance(plan, options);
    std::vector<int64_t> in = {5, -6, 5, -6}, out(4);
    bindIn(instance, 0, in);
    bindOut(instance, 0, out);
    for (uint64_t seed : {0u, 3u}) {
      in[1] = -6;
      execute(instance, seed);
      CHECK(out == in);
      in[1] = 7;
      const svod_error error = executeError(instance, seed);
      CHECK(error.exit_code == 1);
      CHECK(std::string(error.code) == "input-mismatch");
      CHECK(std::string(error.message) == "the sizes: the run gives [5, 7], the plan is for [5, -6]");
    }
  }
}

TEST_CASE("how a run ends that does not meet an expectation is a matter of its kind") {
  const struct {
    ExpectationKind kind;
    int exitCode;
    std::string code, message;
  } kEnds[] = {{ExpectationKind::Agrees, 1, "input-mismatch", "the form: the run gives [2], the plan is for [1]"},
               {ExpectationKind::Valid, 1, "input-mismatch", "the form"},
               {ExpectationKind::Supported, 3, "unsupported", "the form"}};
  for (const auto& end : kEnds) {
    TempFolder folder;
    PlanBuilder b;
    const BufferId x = b.input("x", 2, 2, ElementType::I64), both = b.arena("both", 2, ElementType::I64);
    b.plan.buffers[both].shape = {2, 1};
    b.step(Copy{both, x, 16});
    b.plan.expectations = {{both, end.kind, "the form"}};
    b.write(folder / "p");
    const InstanceHandle instance = makeInstance(loadPlan(folder / "p"));
    std::vector<int64_t> in = {2, 1};
    bindIn(instance, 0, in);
    const svod_error error = executeError(instance);
    CHECK(error.exit_code == end.exitCode);
    CHECK(error.code == end.code);
    CHECK(error.message == end.message);
    CHECK(std::string(error.help) != "");
    in[1] = 2;
    execute(instance);
  }
}

TEST_CASE("sizes that must be equal are compared before the first step") {
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 1, 8)), m = Expr::variable(b.variable("m", 1, 8));
  b.input("x", 8, n), b.input("y", 8, m);
  b.step(HostCall{"count", {}, {}});
  b.plan.equalSizes = {{n, m * 2, "rows of x and y"}};
  b.write(folder / "p");
  int calls = 0;
  const auto count = [](void* user, const svod_host_call*) { return ++*static_cast<int*>(user), 0; };
  const svod_host_entry entry = {"count", count, &calls};
  svod_instance_options options = {};
  options.functions = &entry;
  options.function_count = 1;
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"), options);
  std::vector<float> x(4), two(2), three(3);
  bindIn(instance, 0, x);
  bindIn(instance, 1, two);
  execute(instance);
  CHECK(calls == 1);
  bindIn(instance, 1, three);
  const svod_error error = executeError(instance);
  CHECK(std::string(error.code) == "input-mismatch");
  CHECK(std::string(error.message) == "rows of x and y: 4 is not 6 with m=3, n=4");
  CHECK(std::string(error.help).find("--var n=m") != std::string::npos);
  CHECK(std::string(error.help).find("--var m=3 --var n=4") == std::string::npos);
  CHECK(calls == 1);
  std::vector<float> one(1);
  bindIn(instance, 0, one), bindIn(instance, 1, one);
  CHECK(std::string(executeError(instance).help).find(", and --var m=1 --var n=1 is for these") != std::string::npos);
}

TEST_CASE("a stop asked for before the run ends the next one only") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId from = b.input("x", 4, 4), to = b.output("y", 4, 4);
  b.step(Copy{to, from, 16});
  b.write(folder / "p");
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"));
  std::vector<float> x(4), y(4);
  bindIn(instance, 0, x);
  bindOut(instance, 0, y);
  svod_stop(instance.get());
  CHECK(executeError(instance).exit_code == 75);
  execute(instance);
}

TEST_CASE("a stop that comes too late for a run is not lost") {
  TempFolder folder;
  PlanBuilder b;
  b.step(HostCall{"stop", {}, {}});
  b.write(folder / "p");
  svod_instance* self = nullptr;
  const auto stop = [](void* user, const svod_host_call*) {
    svod_stop(*static_cast<svod_instance**>(user));
    return 0;
  };
  const svod_host_entry entry = {"stop", stop, &self};
  svod_instance_options options = {};
  options.functions = &entry;
  options.function_count = 1;
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"), options);
  self = instance.get();
  for (uint64_t order : {0, 1}) {
    execute(instance, order);
    CHECK(executeError(instance).exit_code == 75);
  }
}
