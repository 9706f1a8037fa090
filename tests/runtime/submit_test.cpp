// Submitted runs and events: they overlap with the caller and with each other, in the order that events give them.
#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/allocation_counter.h"
#include "runtime/harness.h"
#include "runtime/random_graph.h"

using namespace svod;

namespace {

struct FreeEvent {
  void operator()(svod_event* event) const { svod_event_free(event); }
};
using EventHandle = std::unique_ptr<svod_event, FreeEvent>;
EventHandle makeEvent() { return EventHandle(svod_event_create()); }

PoolHandle makePool(size_t threads) { return PoolHandle(threads == 1 ? nullptr : svod_pool_create(threads)); }

InstanceHandle instanceOn(const PlanHandle& plan, const PoolHandle& pool, const svod_host_entry* function = nullptr) {
  svod_instance_options options = {};
  options.pool = pool.get();
  options.functions = function;
  options.function_count = function != nullptr ? 1 : 0;
  return makeInstance(plan, options);
}

void submit(const InstanceHandle& instance, std::vector<svod_event_point>& after, svod_event* done, uint64_t seed = 0) {
  const svod_submit_options options = {seed, after.data(), after.size(), done};
  svod_error error = {};
  if (svod_submit(instance.get(), &options, &error) != 0) FAIL(error.message);
}
void submit(const InstanceHandle& instance) {
  std::vector<svod_event_point> none;
  submit(instance, none, nullptr);
}
void wait(const InstanceHandle& instance) {
  svod_error error = {};
  if (svod_wait(instance.get(), &error) != 0) FAIL(error.message);
}
svod_error waitError(const InstanceHandle& instance) {
  svod_error error = {};
  CHECK(svod_wait(instance.get(), &error) == error.exit_code);
  return error;
}

/// o = mix(x, y, salt).
void writeMix(const std::string& path) {
  PlanBuilder b;
  const auto words = Expr(static_cast<int64_t>(kWords));
  const Expr salt = Expr::variable(b.variable("salt", 0, 1000));
  const BufferId x = b.input("x", kWords, words, ElementType::U32), y = b.input("y", kWords, words, ElementType::U32);
  const BufferId o = b.output("o", kWords, words, ElementType::U32);
  b.launch("k_mix", {x, y, o}, {R, R, W}, {words, salt});
  b.write(path);
}

/// Runs that read what others write, in an order that only events give.
struct RandomRuns {
  struct One {
    InstanceHandle instance;
    std::vector<size_t> from;
    std::vector<uint32_t> output, expected;
    std::vector<svod_event_point> after;
    EventHandle done = makeEvent();
  };
  std::vector<One> runs;
  EventHandle start = makeEvent();
  uint64_t rounds = 0;

  RandomRuns(uint32_t seed, const PlanHandle& plan, const PoolHandle& pool) {
    std::mt19937 random(seed);
    const size_t count = 3 + random() % 12;
    for (size_t i = 0; i < count; i++) {
      One& one = runs.emplace_back();
      one.instance = instanceOn(plan, pool);
      one.output.resize(kWords);
      one.expected.assign(kWords, static_cast<uint32_t>(i));
      if (i == 0) continue;  // written by the caller
      one.from = {random() % i, random() % i};
      for (size_t k = 0; k < kWords; k++)
        one.expected[k] = mix(runs[one.from[0]].expected[k], runs[one.from[1]].expected[k], static_cast<uint32_t>(i));
    }
    for (size_t i = 1; i < count; i++) {
      One& one = runs[i];
      bindIn(one.instance, 0, runs[one.from[0]].output);
      bindIn(one.instance, 1, runs[one.from[1]].output);
      bindOut(one.instance, 0, one.output);
      REQUIRE(svod_set_variable(one.instance.get(), 0, static_cast<int64_t>(i), nullptr) == 0);
    }
  }

  svod_event* doneOf(size_t i) const { return i == 0 ? start.get() : runs[i].done.get(); }

  /// Submits all in the order given, lets them begin, and waits for them in the order of their inputs.
  void go(const std::vector<size_t>& order) {
    rounds++;
    for (One& one : runs) std::fill(one.output.begin(), one.output.end(), 0xdeadbeef);
    for (size_t i : order) {
      runs[i].after.clear();
      for (size_t from : runs[i].from) runs[i].after.push_back({doneOf(from), rounds});
      submit(runs[i].instance, runs[i].after, doneOf(i), rounds % 3);
    }
    for (size_t i : order) CHECK(svod_poll(runs[i].instance.get()) == 0);
    std::fill(runs[0].output.begin(), runs[0].output.end(), 0);
    svod_event_add(start.get(), 1);
    for (size_t i = 1; i < runs.size(); i++) {
      wait(runs[i].instance);
      CHECK(runs[i].output == runs[i].expected);
      CHECK(svod_event_count(doneOf(i)) == rounds);
    }
  }
};

}  // namespace

TEST_CASE("submitted runs of several instances are in progress at once, and the caller goes on") {
  TempFolder folder;
  PlanBuilder b;
  constexpr int kRuns = 3;
  b.launch("k_meet", {b.output("y", 1, Expr(1))}, {W}, {Expr(1), Expr(kRuns)}, Expr(1));
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const PoolHandle pool = makePool(kRuns + 1);
  std::vector<InstanceHandle> instances;
  std::vector<std::vector<float>> met(kRuns, std::vector<float>(1));
  for (size_t i = 0; i < kRuns; i++) {
    instances.push_back(instanceOn(plan, pool));
    bindOut(instances[i], 0, met[i]);
    CHECK(svod_poll(instances[i].get()) == 1);
    submit(instances[i]);
  }
  for (const InstanceHandle& instance : instances)
    while (svod_poll(instance.get()) == 0) std::this_thread::yield();
  for (size_t i = 0; i < kRuns; i++) {
    wait(instances[i]);
    CHECK(met[i][0] == 1);
  }
}

TEST_CASE("without a pool, and with one of a single thread, a submitted run happens in svod_wait") {
  TempFolder folder;
  writeMix(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (const bool withPool : {false, true}) {
    const PoolHandle pool(withPool ? svod_pool_create(1) : nullptr);
    const InstanceHandle instance = instanceOn(plan, pool);
    std::vector<uint32_t> x(kWords, 3), y(kWords, 4), o(kWords, 0);
    bindIn(instance, 0, x);
    bindIn(instance, 1, y);
    bindOut(instance, 0, o);
    REQUIRE(svod_set_variable(instance.get(), 0, 5, nullptr) == 0);
    for (int round = 0; round < 3; round++) {
      o.assign(kWords, 0);
      submit(instance);
      CHECK(svod_poll(instance.get()) == 0);
      CHECK(o[0] == 0);
      wait(instance);
      CHECK(o == std::vector<uint32_t>(kWords, mix(3, 4, 5)));
    }
  }
}

TEST_CASE("runs begin when the runs and the caller that they wait for have counted, for any threads and order") {
  TempFolder folder;
  writeMix(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (uint32_t seed = 1; seed <= 40; seed++) {
    INFO("seed " << seed);
    const PoolHandle pool = makePool(1 + seed % 4);
    RandomRuns runs(seed, plan, pool);
    std::mt19937 random(seed);
    std::vector<size_t> order;
    for (size_t i = 1; i < runs.runs.size(); i++) order.push_back(i);
    for (int round = 0; round < 4; round++) {
      std::shuffle(order.begin(), order.end(), random);
      runs.go(order);
    }
  }
}

TEST_CASE("nothing is allocated by submitting, counting and waiting") {
  TempFolder folder;
  writeMix(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (size_t threads : {1u, 3u}) {
    const PoolHandle pool = makePool(threads);
    RandomRuns runs(3, plan, pool);
    std::vector<size_t> order;
    for (size_t i = 1; i < runs.runs.size(); i++) order.push_back(i);
    for (RandomRuns::One& one : runs.runs) one.after.reserve(2);
    const svod_event_point never = {runs.start.get(), UINT64_MAX};
    const svod_submit_options held = {0, &never, 1, nullptr};
    runs.go(order);
    const uint64_t before = allocationCount();
    uint64_t failed = 0;
    for (int round = 0; round < 20; round++) {
      runs.rounds++;
      for (size_t i : order) {
        const svod_event_point after = {runs.start.get(), runs.rounds};
        const svod_submit_options options = {0, &after, 1, runs.doneOf(i)};
        failed += svod_submit(runs.runs[i].instance.get(), &options, nullptr) != 0;
        if (i == order.front()) svod_event_add(runs.start.get(), 1);
        failed += svod_wait(runs.runs[i].instance.get(), nullptr) != 0;
      }
    }
    CHECK(failed == 0);
    CHECK(allocationCount() == before);
    REQUIRE(svod_submit(runs.runs[1].instance.get(), &held, nullptr) == 0);
    svod_stop(runs.runs[1].instance.get());
    CHECK(waitError(runs.runs[1].instance).exit_code == 75);
  }
}

TEST_CASE("a run that fails fails its event, and what waits for that ends before its first step") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId s = b.state("s", 1);
  b.step(HostCall{"check", {{s, RW, {}}}, {}});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  struct Check {
    std::atomic<int> code{1}, calls{0};
  } first, second;
  const auto call = [](void* user, const svod_host_call*) {
    static_cast<Check*>(user)->calls++;
    return static_cast<Check*>(user)->code.load();
  };
  second.code = 0;
  const svod_host_entry one = {"check", call, &first}, two = {"check", call, &second};
  for (size_t threads : {1u, 3u}) {
    const PoolHandle pool = makePool(threads);
    const EventHandle done = makeEvent(), last = makeEvent();
    const InstanceHandle a = instanceOn(plan, pool, &one), c = instanceOn(plan, pool, &two);
    std::vector<svod_event_point> none, afterA = {{done.get(), 1}};
    first.code = 1;
    second.calls = 0;
    submit(c, afterA, last.get());
    submit(a, none, done.get());
    CHECK(waitError(a).exit_code == 6);
    const svod_error error = waitError(c);
    CHECK(error.exit_code == 75);
    CHECK_THAT(error.message, Catch::Contains("event that it waits for failed"));
    CHECK(second.calls == 0);
    CHECK(svod_event_wait(last.get(), 1, nullptr) == 75);
    submit(c, afterA, last.get());  // also when it failed before
    CHECK(waitError(c).exit_code == 75);
    svod_event_reset(done.get());
    svod_event_reset(last.get());
    first.code = 0;
    submit(c, afterA, last.get());
    submit(a, none, done.get());
    wait(a);
    wait(c);
    CHECK(second.calls == 1);
    CHECK(svod_event_wait(last.get(), 1, nullptr) == 0);
  }
}

TEST_CASE("a stop ends a run that waits for events, and freeing an instance ends its run") {
  TempFolder folder;
  writeMix(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  std::vector<uint32_t> x(kWords, 3), o(kWords, 0);
  for (size_t threads : {1u, 3u}) {
    const PoolHandle pool = makePool(threads);
    const EventHandle reached = makeEvent(), never = makeEvent(), done = makeEvent();
    svod_event_add(reached.get(), 1);
    std::vector<svod_event_point> after = {{reached.get(), 1}, {never.get(), 1}};
    InstanceHandle instance = instanceOn(plan, pool);
    const auto bind = [&] {
      bindIn(instance, 0, x);
      bindIn(instance, 1, x);
      bindOut(instance, 0, o);
      REQUIRE(svod_set_variable(instance.get(), 0, 5, nullptr) == 0);
    };
    bind();
    submit(instance, after, done.get());
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      svod_stop(instance.get());
    });
    CHECK(waitError(instance).exit_code == 75);
    stopper.join();
    CHECK(svod_event_wait(done.get(), 1, nullptr) == 75);
    svod_stop(instance.get());  // the next one ends so
    submit(instance, after, nullptr);
    CHECK(waitError(instance).exit_code == 75);
    submit(instance);
    wait(instance);
    CHECK(o == std::vector<uint32_t>(kWords, mix(3, 3, 5)));
    submit(instance, after, nullptr);
    instance.reset();
    svod_event_add(never.get(), 1);
    for (int round = 0; round < 50; round++) {
      instance = instanceOn(plan, pool);
      bind();
      submit(instance);
      if (round % 2 == 0) std::this_thread::yield();
      instance.reset();
    }
  }
}

TEST_CASE("what does not fit a submitted run is an error, and so is a run that cannot begin") {
  TempFolder folder;
  writeMix(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const InstanceHandle instance = instanceOn(plan, nullptr);
  svod_instance* raw = instance.get();
  svod_error error = {};
  CHECK(svod_wait(raw, &error) == 2);
  CHECK(std::string(error.code) == "usage");
  CHECK(svod_submit(raw, nullptr, &error) == 1);
  CHECK(std::string(error.code) == "missing-input");
  CHECK(svod_poll(raw) == 1);
  std::vector<uint32_t> x(kWords, 1), o(kWords);
  const uint64_t shape = kWords;
  bindIn(instance, 0, x);
  bindIn(instance, 1, x);
  bindOut(instance, 0, o);
  REQUIRE(svod_set_variable(raw, 0, 5, nullptr) == 0);
  submit(instance);
  CHECK(svod_submit(raw, nullptr, &error) == 2);
  CHECK_THAT(error.message, Catch::Contains("has a submitted run"));
  CHECK(svod_execute(raw, nullptr, &error) == 2);
  CHECK(svod_set_variable(raw, 0, 6, &error) == 2);
  CHECK(svod_bind_input(raw, 0, nullptr, &shape, 1, x.data(), &error) == 2);
  CHECK(svod_bind_output(raw, 0, o.data(), o.size() * 4, &error) == 2);
  wait(instance);
  execute(instance);
}

TEST_CASE("a thread may execute on a pool that submitted runs use") {
  TempFolder folder;
  RandomGraph graph(4, 40, MemoryMode::Arena, UINT64_MAX);
  graph.builder.write(folder / "p", compiledKernels());
  const PlanHandle plan = loadPlan(folder / "p");
  const PoolHandle pool = makePool(3);
  std::vector<InstanceHandle> instances;
  std::vector<std::vector<uint32_t>> outputs(4, std::vector<uint32_t>(kWords));
  for (std::vector<uint32_t>& output : outputs) {
    instances.push_back(instanceOn(plan, pool));
    bindIn(instances.back(), 0, graph.input);
    bindOut(instances.back(), 0, output);
  }
  for (int round = 0; round < 50; round++) {
    for (std::vector<uint32_t>& output : outputs) output.assign(kWords, 0);
    for (size_t i = 1; i < 4; i++) submit(instances[i]);
    execute(instances[0]);
    for (size_t i = 1; i < 4; i++) wait(instances[i]);
    for (const std::vector<uint32_t>& output : outputs) CHECK(output == graph.expected);
  }
}
