// What does not fit a submitted run: every function of the interface ends with its documented error, and the run goes
// on.
#include <atomic>
#include <thread>

#include "runtime/harness.h"

using namespace svod;

namespace {

/// A run that is held until `go` counts: y = x + s, and s = s * 2 + value.
struct Held {
  TempFolder folder;
  PlanHandle plan;
  PoolHandle pool;
  svod_event* go = svod_event_create();
  InstanceHandle instance;
  std::vector<float> x = std::vector<float>(8, 3), y = std::vector<float>(8, 0);

  explicit Held(size_t threads) {
    PlanBuilder b;
    b.plan.devices.push_back({"d1", DeviceKind::Cpu, 0});
    const Expr n = 8;
    const VariableId value = b.variable("value", 0, 9);
    const BufferId in = b.input("x", 8, n), out = b.output("y", 8, n), s = b.state("s", 8), t = b.arena("t", 8);
    b.launch("k_add_value", {s}, {RW}, {n, Expr::variable(value)}, Expr(2));
    b.launch("k_double", {s, t}, {R, W}, {n}, Expr(2));
    b.launch("k_add", {in, t, out}, {R, R, W}, {n}, Expr(2));
    b.write(folder / "p");
    plan = loadPlan(folder / "p");
    if (threads > 1) pool = PoolHandle(svod_pool_create(threads));
    svod_instance_options options = {};
    options.pool = pool.get();
    instance = makeInstance(plan, options);
    bindIn(instance, 0, x);
    bindOut(instance, 0, y);
    REQUIRE(svod_set_variable(instance.get(), 0, 5, nullptr) == 0);
  }
  ~Held() {
    instance.reset();
    svod_event_free(go);
  }
  void submit() {
    svod_event_reset(go);
    point = {go, 1};
    const svod_submit_options options = {0, &point, 1, nullptr};
    REQUIRE(svod_submit(instance.get(), &options, nullptr) == 0);
  }
  svod_event_point point = {};
};

}  // namespace

TEST_CASE("every other function that can fail ends with exit code 2 during a submitted run, and the rest do nothing") {
  for (size_t threads : {1u, 3u}) {
    Held held(threads);
    svod_instance* const raw = held.instance.get();
    held.submit();
    const uint64_t shape = 8;
    std::vector<float> other(8, 100);
    int64_t value = 0;
    svod_error error = {};
    const int codes[] = {svod_submit(raw, nullptr, &error),
                         svod_execute(raw, nullptr, &error),
                         svod_set_variable(raw, 0, 6, &error),
                         svod_get_variable(raw, 0, &value, &error),
                         svod_get_shape(raw, SVOD_OUTPUT, 0, nullptr, nullptr, &error),
                         svod_bind_input(raw, 0, nullptr, &shape, 1, other.data(), &error),
                         svod_bind_output(raw, 0, other.data(), 32, &error),
                         svod_bind_device_input(raw, 0, 0, nullptr, &shape, 1, other.data(), &error),
                         svod_bind_device_output(raw, 0, 0, other.data(), 32, &error),
                         svod_bind_device_state(raw, 0, 0, nullptr, &error),
                         svod_read_state(raw, 0, other.data(), 32, &error),
                         svod_write_state(raw, 0, other.data(), 32, &error),
                         svod_probe(raw, 0, other.data(), 32, &error)};
    for (const int& code : codes) {
      INFO("call " << &code - codes);
      CHECK(code == 2);
    }
    CHECK(std::string(error.code) == "usage");
    CHECK_THAT(error.message, Catch::Contains("has a submitted run"));
    CHECK_THAT(error.help, Catch::Contains("svod_wait"));
    svod_clear_variable(raw, 0);
    svod_reset_states(raw);
    CHECK(other == std::vector<float>(8, 100));
    CHECK(svod_poll(raw) == 0);
    svod_event_add(held.go, 1);
    CHECK(svod_wait(raw, &error) == 0);
    CHECK(held.y == std::vector<float>(8, 13));
    CHECK(svod_wait(raw, &error) == 2);
    CHECK_THAT(error.message, Catch::Contains("no submitted run"));
    svod_reset_states(raw);
    held.submit();
    svod_event_add(held.go, 1);
    CHECK(svod_wait(raw, &error) == 0);
    CHECK(held.y == std::vector<float>(8, 13));
  }
}

TEST_CASE("of several threads that wait for one run one gets its result, and the others exit code 2") {
  for (size_t threads : {1u, 3u}) {
    Held held(threads);
    for (int round = 0; round < 30; round++) {
      svod_reset_states(held.instance.get());
      held.submit();
      std::atomic<int> good{0}, refused{0};
      std::vector<std::thread> waiting;
      for (int i = 0; i < 3; i++)
        waiting.emplace_back([&] {
          const int code = svod_wait(held.instance.get(), nullptr);
          good += code == 0, refused += code == 2;
        });
      svod_event_add(held.go, 1);
      for (std::thread& each : waiting) each.join();
      CHECK(good == 1);
      CHECK(refused == 2);
      CHECK(held.y == std::vector<float>(8, 13));
    }
  }
}

TEST_CASE("a plan that is freed during a run is there until its instances are, and one that is freed ends its run") {
  for (size_t threads : {1u, 3u})
    for (int round = 0; round < 30; round++) {
      Held held(threads);
      held.submit();
      held.plan.reset();
      if (round % 3 > 0) svod_event_add(held.go, 1);
      if (round % 3 == 1) {
        CHECK(svod_wait(held.instance.get(), nullptr) == 0);
        CHECK(held.y == std::vector<float>(8, 13));
      }
      held.instance.reset();
    }
}
