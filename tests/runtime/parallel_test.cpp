// Many threads: the same bytes for any number of them and any order, loops, errors, no allocation in a run.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "runtime/allocation_counter.h"
#include "runtime/harness.h"
#include "runtime/random_graph.h"

using namespace svod;

namespace {

InstanceHandle instanceOn(const PlanHandle& plan, svod_pool* pool, bool profile = false) {
  svod_instance_options options = {};
  options.pool = pool;
  options.profile = profile;
  options.trace_events = profile ? 4096 : 0;
  return makeInstance(plan, options);
}

InstanceHandle instanceWith(const PlanHandle& plan, svod_pool* pool, std::span<const svod_host_entry> functions) {
  svod_instance_options options = {};
  options.pool = pool;
  options.functions = functions.data();
  options.function_count = functions.size();
  return makeInstance(plan, options);
}

/// What two workers did of a long kernel of ten tiles.
std::vector<svod_trace_event> tasksOfTen(uint64_t scratchBytes) {
  TempFolder folder;
  PlanBuilder b;
  const BufferId y = b.output("y", 10, Expr(10), ElementType::U32);
  b.launch("k_spin", {y}, {W}, {Expr(10), Expr(2000)}, Expr(10));
  b.plan.kernels[0].flops = 100'000'000;
  b.plan.kernels[0].scratchBytes = scratchBytes;
  b.write(folder / "p");
  const PoolHandle pool(svod_pool_create(2));
  const InstanceHandle instance = instanceOn(loadPlan(folder / "p"), pool.get(), true);
  std::vector<uint32_t> result(10);
  bindOut(instance, 0, result);
  execute(instance);
  std::vector<svod_trace_event> tasks(svod_trace_count(instance.get()));
  for (size_t i = 0; i < tasks.size(); i++) REQUIRE(svod_trace_get(instance.get(), i, &tasks[i]) == 0);
  return tasks;
}

}  // namespace

TEST_CASE("random graphs give the same bytes for any threads, order and memory mode") {
  uint64_t total = 0;
  for (uint32_t seed = 1; seed <= 12; seed++) {
    TempFolder folder;
    const auto mode = static_cast<MemoryMode>(seed % 3);
    RandomGraph graph(seed, 10 + seed * 7, mode, seed % 4 == 0 ? 0 : UINT64_MAX);
    graph.builder.write(folder / "p", compiledKernels());
    const PlanHandle plan = loadPlan(folder / "p");
    for (size_t threads : {1u, 2u, 3u, 8u}) {
      const PoolHandle pool(threads == 1 ? nullptr : svod_pool_create(threads));
      const InstanceHandle instance = instanceOn(plan, pool.get(), seed % 2 == 0);
      bindIn(instance, 0, graph.input);
      for (uint64_t order : {0u, 0u, 1u, 2u, 3u, 4u}) {
        std::vector<uint32_t> output(kWords, 0);
        bindOut(instance, 0, output);
        execute(instance, order);
        CHECK(output == graph.expected);
        total++;
      }
    }
  }
  CHECK(total == 12 * 4 * 6);
}

TEST_CASE("random graphs on devices with memory of their own give the same bytes for any threads and order") {
  for (uint32_t seed = 1; seed <= 12; seed++) {
    TempFolder folder;
    RandomGraph graph(seed, 10 + seed * 7, static_cast<MemoryMode>(seed % 3), seed % 4 == 0 ? 0 : UINT64_MAX, 3);
    for (const DeviceDesc& device : graph.builder.plan.devices) CHECK(device.arenaBytes > 0);
    graph.builder.write(folder / "p", compiledKernels());
    const PlanHandle plan = loadPlan(folder / "p");
    for (size_t threads : {1u, 3u}) {
      const PoolHandle pool(threads == 1 ? nullptr : svod_pool_create(threads));
      const InstanceHandle instance = instanceOn(plan, pool.get());
      bindIn(instance, 0, graph.input);
      for (uint64_t order : {0u, 1u, 2u, 3u}) {
        std::vector<uint32_t> output(kWords, 0);
        bindOut(instance, 0, output);
        execute(instance, order);
        CHECK(output == graph.expected);
      }
    }
  }
}

TEST_CASE("every device has an arena of its own, and their bytes are known") {
  TempFolder folder;
  RandomGraph graph(7, 20, MemoryMode::Arena, UINT64_MAX, 3);
  graph.builder.write(folder / "p", compiledKernels());
  const PlanHandle plan = loadPlan(folder / "p");
  struct Asked {
    std::vector<uint64_t> arenas;
  } asked;
  svod_memory memory = {};
  memory.user = &asked;
  memory.allocate = [](void* user, uint64_t bytes, uint64_t alignment, const char* purpose) {
    if (std::strcmp(purpose, "arena") == 0) static_cast<Asked*>(user)->arenas.push_back(bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  memory.release = [](void*, void* data, uint64_t) { std::free(data); };
  svod_instance_options options = {};
  options.memory = &memory;
  const InstanceHandle instance = makeInstance(plan, options);
  std::vector<uint64_t> expected;
  uint64_t total = 0;
  for (const DeviceDesc& device : graph.builder.plan.devices)
    expected.push_back(device.arenaBytes), total += device.arenaBytes;
  CHECK(asked.arenas == expected);
  svod_plan_info info = {};
  svod_plan_get_info(plan.get(), &info);
  CHECK(info.arena_bytes == total);
}

TEST_CASE("loops with parallel bodies, nested, on many threads") {
  TempFolder folder;
  PlanBuilder b;
  const VariableId i = b.variable("i", 0, 99, VariableKind::Loop), j = b.variable("j", 0, 99, VariableKind::Loop);
  const Expr n(64), vi = Expr::variable(i), vj = Expr::variable(j);
  std::vector<BufferId> s;
  for (int k = 0; k < 4; k++) s.push_back(b.state("s" + std::to_string(k), 64));
  b.step(Loop{i, Expr(20), 6});
  b.launch("k_add_value", {s[0]}, {RW}, {n, vi});
  b.launch("k_add_value", {s[1]}, {RW}, {n, vi * 3});
  b.step(Loop{j, Expr::make(ExprOp::Mod, vi, Expr(3)), 2});
  b.launch("k_add_value", {s[2]}, {RW}, {n, vj});
  b.launch("k_add_value", {s[3]}, {RW}, {n, vi + vj});
  b.launch("k_accumulate", {s[0], s[1]}, {R, RW}, {n});
  b.launch("k_accumulate", {s[1], s[3]}, {R, RW}, {n});
  for (KernelDesc& kernel : b.plan.kernels) kernel.flops = 1'000'000;
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  float want[4] = {};  // an element of each state
  for (int outer = 0; outer < 20; outer++) {
    want[0] = want[0] * 2 + static_cast<float>(outer);
    want[1] = want[1] * 2 + static_cast<float>(outer * 3);
    for (int inner = 0; inner < outer % 3; inner++) {
      want[2] = want[2] * 2 + static_cast<float>(inner);
      want[3] = want[3] * 2 + static_cast<float>(outer + inner);
    }
    want[1] += want[0];
  }
  want[3] += want[1];
  for (size_t threads : {1u, 2u, 4u, 7u}) {
    const PoolHandle pool(threads == 1 ? nullptr : svod_pool_create(threads));
    const InstanceHandle instance = instanceOn(plan, pool.get());
    for (uint64_t order : {0u, 0u, 9u}) {
      svod_reset_states(instance.get());
      execute(instance, order);
      for (size_t k = 0; k < 4; k++) {
        const auto* data = static_cast<const float*>(svod_state_data(instance.get(), k));
        CHECK(std::all_of(data, data + 64, [&](float value) { return value == want[k]; }));
      }
    }
  }
}

TEST_CASE("tiles of one kernel run at once, on the threads of the pool") {
  TempFolder folder;
  PlanBuilder b;
  constexpr int kThreads = 3;
  const Expr count(kThreads);
  b.launch("k_meet", {b.output("y", kThreads, count)}, {W}, {count, count}, count);
  b.plan.kernels[0].flops = 1'000'000;
  b.write(folder / "p");
  const PoolHandle pool(svod_pool_create(kThreads));
  const InstanceHandle instance = instanceOn(loadPlan(folder / "p"), pool.get());
  std::vector<float> met(kThreads);
  bindOut(instance, 0, met);
  execute(instance);
  CHECK(met == std::vector<float>(kThreads, 1));
}

TEST_CASE("a worker begins with the tiles at its own place") {
  TempFolder folder;
  PlanBuilder b;
  constexpr int kThreads = 3, kRuns = 20;
  const Expr count(kThreads);
  b.launch("k_meet", {b.output("y", kThreads, count)}, {W}, {count, count}, count);
  b.plan.kernels[0].flops = 1'000'000;
  b.write(folder / "p");
  const PoolHandle pool(svod_pool_create(kThreads));
  const InstanceHandle instance = instanceOn(loadPlan(folder / "p"), pool.get(), true);
  std::vector<float> met(kThreads);
  bindOut(instance, 0, met);
  for (int run = 0; run < kRuns; run++) execute(instance);
  CHECK(svod_trace_count(instance.get()) == kRuns * kThreads);
  svod_trace_event event = {};
  for (size_t i = 0; svod_trace_get(instance.get(), i, &event) == 0; i++)
    CHECK(event.tile_begin == static_cast<int64_t>(event.thread));
}

TEST_CASE("two workers get equal numbers of tiles, also where tasks differ in length") {
  const std::vector<svod_trace_event> tasks = tasksOfTen(0);
  size_t firstHalf = 0;
  for (const svod_trace_event& task : tasks) {
    const bool isFirst = task.tile_begin < 5;
    CHECK((task.tile_end <= 5) == isFirst);
    firstHalf += isFirst;
  }
  CHECK(firstHalf == 4);
  CHECK(tasks.size() == 8);
}

TEST_CASE("where scratch is much to fill there is one task for each worker") {
  CHECK(tasksOfTen(1 << 10).size() == 8);
  CHECK(tasksOfTen(1 << 20).size() == 2);
}

TEST_CASE("a big kernel is shared, and its tiles are all run once") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId y = b.output("y", 1000, Expr(1000), ElementType::U32);
  b.launch("k_spin", {y}, {W}, {Expr(1000), Expr(2000)}, Expr(1000));
  b.plan.kernels[0].flops = 100'000'000;
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const PoolHandle pool(svod_pool_create(3));
  CHECK(svod_pool_threads(pool.get()) == 3);
  const InstanceHandle shared = instanceOn(plan, pool.get(), true), alone = instanceOn(plan, nullptr);
  std::vector<uint32_t> one(1000), two(1000);
  bindOut(alone, 0, one);
  bindOut(shared, 0, two);
  execute(alone);
  for (int run = 0; run < 20; run++) {
    std::fill(two.begin(), two.end(), 0);
    execute(shared);
    CHECK(one == two);
  }
  svod_profile_record record = {};
  REQUIRE(svod_profile_count(shared.get()) == 1);
  REQUIRE(svod_profile_get(shared.get(), 0, &record) == 0);
  CHECK(record.calls == 20);
  CHECK(record.flops == 20 * UINT64_C(100'000'000));
  CHECK(record.busy_ns > 0);
  CHECK(record.wall_ns > 0);
  int64_t tiles = 0;
  svod_trace_event event = {};
  for (size_t i = 0; svod_trace_get(shared.get(), i, &event) == 0; i++) {
    CHECK(event.end_ns >= event.start_ns);
    CHECK(event.thread < 3);
    tiles += event.tile_end - event.tile_begin;
  }
  CHECK(tiles == 20 * 1000);
  CHECK(svod_trace_dropped(shared.get()) == 0);
  svod_profile_reset(shared.get());
  CHECK(svod_trace_count(shared.get()) == 0);
}

TEST_CASE("independent kernels run at once") {
  TempFolder folder;
  PlanBuilder b;
  constexpr int kThreads = 3;
  const Expr one(1);
  for (int i = 0; i < kThreads; i++)
    b.launch("k_meet", {b.output("y" + std::to_string(i), 1, one)}, {W}, {one, Expr(kThreads)}, one);
  for (KernelDesc& kernel : b.plan.kernels) kernel.flops = 1'000'000;
  b.write(folder / "p");
  const PoolHandle pool(svod_pool_create(kThreads));
  const InstanceHandle instance = instanceOn(loadPlan(folder / "p"), pool.get());
  std::vector<std::vector<float>> met(kThreads, std::vector<float>(1));
  for (size_t i = 0; i < kThreads; i++) bindOut(instance, i, met[i]);
  for (uint64_t order : {0u, 5u}) {
    execute(instance, order);
    for (std::vector<float>& value : met) CHECK(std::exchange(value[0], 0) == 1);
  }
}

TEST_CASE("nothing is allocated or looked up during a run, also when memory and shapes are bound anew") {
  TempFolder folder;
  RandomGraph graph(3, 60, MemoryMode::Arena, UINT64_MAX);
  graph.builder.write(folder / "p", compiledKernels());
  const PlanHandle plan = loadPlan(folder / "p");
  CHECK(lookupCount() > 0);  // the counter counts
  for (size_t threads : {1u, 4u}) {
    const PoolHandle pool(threads == 1 ? nullptr : svod_pool_create(threads));
    const InstanceHandle instance = instanceOn(plan, pool.get(), true);
    std::vector<uint32_t> output(kWords), other(kWords);
    const uint64_t shape = kWords;
    bindIn(instance, 0, graph.input);
    bindOut(instance, 0, output);
    const uint64_t before = allocationCount(), found = lookupCount();
    for (int run = 0; run < 50; run++) {
      std::vector<uint32_t>& target = run % 2 == 0 ? output : other;
      svod_bind_input(instance.get(), 0, "u32", &shape, 1, graph.input.data(), nullptr);
      svod_bind_output(instance.get(), 0, target.data(), kWords * 4, nullptr);
      const svod_execute_options options = {run % 5 == 4 ? 7u : 0u};
      if (svod_execute(instance.get(), &options, nullptr) != 0) FAIL("run failed");
    }
    CHECK(allocationCount() - before == 0);
    CHECK(lookupCount() == found);
    CHECK(output == graph.expected);
    CHECK(other == graph.expected);
  }
}

TEST_CASE("several instances of one plan run at once, on one pool and on none") {
  TempFolder folder;
  RandomGraph graph(8, 40, MemoryMode::Arena, UINT64_MAX);
  graph.builder.write(folder / "p", compiledKernels());
  const PlanHandle plan = loadPlan(folder / "p");
  const PoolHandle pool(svod_pool_create(3));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      svod_instance_options options = {};
      options.pool = t == 3 ? nullptr : pool.get();
      svod_instance* instance = nullptr;
      if (svod_instance_create(plan.get(), &options, &instance, nullptr) != 0) return void(wrong++);
      std::vector<uint32_t> output(kWords);
      const uint64_t shape = kWords;
      for (int run = 0; run < 30; run++) {
        std::fill(output.begin(), output.end(), 0);
        svod_bind_input(instance, 0, nullptr, &shape, 1, graph.input.data(), nullptr);
        svod_bind_output(instance, 0, output.data(), kWords * 4, nullptr);
        if (svod_execute(instance, nullptr, nullptr) != 0 || output != graph.expected) wrong++;
      }
      svod_instance_free(instance);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a failing host function ends a run on many threads, and the next one works") {
  TempFolder folder;
  RandomGraph graph(5, 50, MemoryMode::Off, UINT64_MAX);
  // The call reads what half of the steps depend on.
  graph.builder.step(HostCall{"check", {{graph.builder.plan.outputs[0].buffer, RW, {}}}, {}});
  graph.builder.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const PoolHandle pool(svod_pool_create(4));
  int code = 0;
  const auto check = [](void* user, const svod_host_call*) { return *static_cast<int*>(user); };
  const svod_host_entry entry = {"check", check, &code};
  const InstanceHandle instance = instanceWith(plan, pool.get(), {&entry, 1});
  std::vector<uint32_t> output(kWords);
  bindIn(instance, 0, graph.input);
  bindOut(instance, 0, output);
  for (int round = 0; round < 10; round++) {
    code = round % 2;
    if (code == 1)
      CHECK(executeError(instance).exit_code == 6);
    else
      execute(instance);
  }
  code = 0;
  execute(instance);
  CHECK(output == graph.expected);
}

TEST_CASE("a stop from inside a run, and a loop that leaves its bounds, end it with an error") {
  TempFolder folder;
  PlanBuilder b;
  const VariableId n = b.variable("n", 0, 100), i = b.variable("i", 0, 3, VariableKind::Loop);
  const BufferId s = b.state("s", 16), u = b.state("u", 16);
  b.step(Loop{i, Expr::variable(n), 3});
  b.launch("k_add_value", {s}, {RW}, {Expr(16), Expr::variable(i)});
  b.launch("k_add_value", {u}, {RW}, {Expr(16), Expr::variable(i)});
  b.step(HostCall{"stop", {{s, R, {}}}, {}});
  b.plan.kernels[0].flops = 1'000'000;
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (size_t threads : {1u, 3u}) {
    const PoolHandle pool(threads == 1 ? nullptr : svod_pool_create(threads));
    svod_instance* self = nullptr;
    const auto stop = [](void* user, const svod_host_call*) {
      if (auto* instance = *static_cast<svod_instance**>(user)) svod_stop(instance);
      return 0;
    };
    const svod_host_entry entry = {"stop", stop, &self};
    const InstanceHandle instance = instanceWith(plan, pool.get(), {&entry, 1});
    REQUIRE(svod_set_variable(instance.get(), 0, 4, nullptr) == 0);
    execute(instance);
    self = instance.get();
    CHECK(executeError(instance).exit_code == 75);
    self = nullptr;
    execute(instance);
    REQUIRE(svod_set_variable(instance.get(), 0, 5, nullptr) == 0);
    const svod_error error = executeError(instance);
    CHECK(std::string(error.code) == "variable-bounds");
    CHECK(std::string(error.message).find("over 'i' would run 5 times") != std::string::npos);
  }
}

TEST_CASE("a host function may run another instance on the same pool") {
  TempFolder folder;
  RandomGraph graph(6, 30, MemoryMode::Arena, UINT64_MAX);
  graph.builder.write(folder / "inner", compiledKernels());
  PlanBuilder outer;
  outer.step(HostCall{"inner", {}, {}});
  outer.step(HostCall{"inner2", {}, {}});
  outer.write(folder / "outer");
  const PlanHandle innerPlan = loadPlan(folder / "inner"), outerPlan = loadPlan(folder / "outer");
  const PoolHandle pool(svod_pool_create(3));
  std::vector<InstanceHandle> inner;
  std::vector<std::vector<uint32_t>> outputs(2, std::vector<uint32_t>(kWords));
  for (size_t i = 0; i < 2; i++) {
    inner.push_back(instanceOn(innerPlan, pool.get()));
    bindIn(inner[i], 0, graph.input);
    bindOut(inner[i], 0, outputs[i]);
  }
  const auto run = [](void* user, const svod_host_call*) {
    return svod_execute(static_cast<svod_instance*>(user), nullptr, nullptr);
  };
  const svod_host_entry entries[] = {{"inner", run, inner[0].get()}, {"inner2", run, inner[1].get()}};
  const InstanceHandle instance = instanceWith(outerPlan, pool.get(), entries);
  for (int i = 0; i < 20; i++) execute(instance, static_cast<uint64_t>(i % 2));
  CHECK(outputs[0] == graph.expected);
  CHECK(outputs[1] == graph.expected);
}

// Not run by default: build/release/tests/runtime_parallel "[.bench]" prints nanoseconds per empty kernel.
TEST_CASE("dispatch cost of empty kernels", "[.bench]") {
  constexpr uint32_t kSteps = 10000;
  for (const bool chain : {true, false}) {
    TempFolder folder;
    PlanBuilder b;
    std::vector<BufferId> lanes;
    for (int i = 0; i < (chain ? 1 : 16); i++) lanes.push_back(b.arena("t" + std::to_string(i), 16));
    for (uint32_t i = 0; i < kSteps; i++) b.launch("k_nothing", {lanes[i % lanes.size()]}, {RW}, {Expr(1)}, Expr(1));
    b.plan.kernels[0].flops = 50'000;  // claims to be worth sharing
    auto start = std::chrono::steady_clock::now();
    const auto since = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    b.write(folder / "p");
    std::printf("%s: write %.1f ms", chain ? "chain" : "16 lanes", since() * 1e3);
    start = std::chrono::steady_clock::now();
    const PlanHandle plan = loadPlan(folder / "p");
    std::printf(", load %.1f ms", since() * 1e3);
    for (size_t threads : {1u, 2u}) {
      const PoolHandle pool(threads == 1 ? nullptr : svod_pool_create(threads));
      const InstanceHandle instance = instanceOn(plan, pool.get());
      double best = 1;
      for (int run = 0; run < 50; run++) {
        start = std::chrono::steady_clock::now();
        execute(instance);
        best = std::min(best, since());
      }
      std::printf(", %zu threads %.0f ns", threads, best * 1e9 / kSteps);
    }
    std::printf("\n");
  }
}
