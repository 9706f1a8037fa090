// Intermediates that somebody looks into: the value that the last step left, whatever lies in its place afterwards.
#include "runtime/allocation_counter.h"
#include "runtime/harness.h"
#include "runtime/random_graph.h"

using namespace svod;

namespace {

size_t intermediate(const PlanHandle& plan, const std::string& name) {
  const size_t index = svod_plan_find(plan.get(), SVOD_INTERMEDIATE, name.c_str());
  INFO(name);
  REQUIRE(index != SVOD_NONE);
  return index;
}

template <class T>
void probe(const InstanceHandle& instance, size_t index, std::vector<T>& data) {
  svod_error error = {};
  if (svod_probe(instance.get(), index, data.data(), data.size() * sizeof(T), &error) != 0) FAIL(error.message);
}

}  // namespace

TEST_CASE("every intermediate of random graphs has its value, in every memory mode and with places used again") {
  bool isReused = false;
  for (uint32_t seed = 1; seed <= 12; seed++) {
    TempFolder folder;
    RandomGraph graph(seed, 10 + seed * 7, static_cast<MemoryMode>(seed % 3), seed % 4 == 0 ? 0 : UINT64_MAX);
    graph.builder.write(folder / "p", compiledKernels());
    const PlanHandle plan = loadPlan(folder / "p");
    const PoolHandle pool(seed % 2 == 0 ? nullptr : svod_pool_create(3));
    svod_instance_options options = {};
    options.pool = pool.get();
    const InstanceHandle instance = makeInstance(plan, options);
    std::vector<uint32_t> output(kWords);
    bindIn(instance, 0, graph.input);
    bindOut(instance, 0, output);
    std::vector<std::vector<uint32_t>> seen(graph.values.size(), std::vector<uint32_t>(kWords));
    for (size_t i = 1; i + 1 < seen.size(); i++) probe(instance, intermediate(plan, "t" + std::to_string(i)), seen[i]);
    const uint64_t before = allocationCount();
    const int code = svod_execute(instance.get(), nullptr, nullptr);
    CHECK(allocationCount() == before);
    CHECK(code == 0);
    CHECK(output == graph.expected);
    for (size_t i = 1; i + 1 < seen.size(); i++) {
      CHECK(seen[i] == graph.values[i]);
      CHECK(svod_probe_count(instance.get(), intermediate(plan, "t" + std::to_string(i))) == 1);
    }
    svod_plan_info info = {};
    svod_plan_get_info(plan.get(), &info);
    isReused = isReused || info.arena_bytes < (seen.size() - 2) * kWords * 4;
  }
  CHECK(isReused);
}

TEST_CASE("what a step writes over its operand, and what a view shares, is seen as it was") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId x = b.input("x", 8, Expr(8)), y = b.output("y", 8, Expr(8));
  const BufferId t = b.arena("t", 8), u = b.arena("u", 8), half = b.view("half", t, 16, 4);
  b.plan.buffers[u].offset = b.plan.buffers[t].offset;
  b.plan.memory.inPlace = {{t, u}};
  b.launch("k_double", {x, t}, {R, W}, {Expr(8)});
  b.launch("k_add_value", {half}, {RW}, {Expr(4), Expr(1)});
  b.launch("k_double", {t, u}, {R, W}, {Expr(8)});
  b.launch("k_double", {u, y}, {R, W}, {Expr(8)});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const InstanceHandle instance = makeInstance(plan);
  std::vector<float> in = {1, 2, 3, 4, 5, 6, 7, 8}, out(8), seenT(8), seenU(8), seenHalf(4);
  bindIn(instance, 0, in);
  bindOut(instance, 0, out);
  probe(instance, intermediate(plan, "t"), seenT);
  probe(instance, intermediate(plan, "u"), seenU);
  probe(instance, intermediate(plan, "half"), seenHalf);
  execute(instance);
  CHECK(seenT == std::vector<float>{2, 4, 6, 8, 21, 25, 29, 33});
  CHECK(seenHalf == std::vector<float>{21, 25, 29, 33});
  CHECK(seenU == std::vector<float>{4, 8, 12, 16, 42, 50, 58, 66});
  CHECK(out[7] == 132);
  CHECK(svod_probe_count(instance.get(), intermediate(plan, "t")) == 2);
  REQUIRE(svod_probe(instance.get(), intermediate(plan, "t"), nullptr, 0, nullptr) == 0);
  seenT.assign(8, 0);
  execute(instance);
  CHECK(seenT == std::vector<float>(8, 0));
}

TEST_CASE("in a loop the last iteration counts, and without trips there is no value") {
  TempFolder folder;
  PlanBuilder b;
  const VariableId n = b.variable("n", 0, 5), i = b.variable("i", 0, 4, VariableKind::Loop);
  const BufferId s = b.state("s", 4), t = b.arena("t", 4);
  b.step(Loop{i, Expr::variable(n), 2});
  b.launch("k_add_value", {s}, {RW}, {Expr(4), Expr::variable(i)});
  b.launch("k_double", {s, t}, {R, W}, {Expr(4)});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const InstanceHandle instance = makeInstance(plan);
  std::vector<float> seen(4, -1);
  const size_t index = intermediate(plan, "t");
  probe(instance, index, seen);
  REQUIRE(svod_set_variable(instance.get(), 0, 0, nullptr) == 0);
  execute(instance);
  CHECK(svod_probe_count(instance.get(), index) == 0);
  CHECK(seen == std::vector<float>(4, -1));
  REQUIRE(svod_set_variable(instance.get(), 0, 3, nullptr) == 0);
  execute(instance);
  CHECK(svod_probe_count(instance.get(), index) == 3);
  CHECK(seen == std::vector<float>(4, 8));  // 0, then 1, then 4; doubled
}

TEST_CASE("intermediates have names of their own, and wrong probes are errors") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId x = b.input("x", 8, Expr(8)), y = b.output("y", 8, Expr(8));
  const BufferId one = b.arena("y", 8), two = b.arena("y", 8), nameless = b.arena("", 8);
  b.launch("k_double", {x, one}, {R, W}, {Expr(8)});
  b.launch("k_double", {one, two}, {R, W}, {Expr(8)});
  b.launch("k_double", {two, nameless}, {R, W}, {Expr(8)});
  b.launch("k_double", {nameless, y}, {R, W}, {Expr(8)});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  svod_tensor tensor = {};
  std::vector<std::string> names;
  for (size_t i = 0; svod_plan_tensor(plan.get(), SVOD_INTERMEDIATE, i, &tensor) == 0; i++)
    names.push_back(tensor.name);
  CHECK(names == std::vector<std::string>{"y#2", "y#3", "#4"});
  CHECK(tensor.max_bytes == 32);
  const InstanceHandle instance = makeInstance(plan);
  std::vector<float> seen(8);
  svod_error error = {};
  CHECK(svod_probe(instance.get(), 3, seen.data(), 32, &error) == 1);
  CHECK(std::string(error.message) == "there is no intermediate 3: the plan has 3");
  CHECK(svod_probe(instance.get(), 1, seen.data(), 31, &error) == 1);
  CHECK(std::string(error.message) == "intermediate 'y#3' needs 32 bytes, the memory given for it has 31");
}
