// Objects that several threads have, and what a caller must not do: an error with a code, never a crash or a race.
#include <atomic>
#include <thread>

#include "runtime/harness.h"

using namespace svod;

namespace {

constexpr int kThreads = 6;

/// y = x + x for n up to 64.
struct Doubling {
  TempFolder folder;
  PlanHandle plan;

  Doubling() {
    PlanBuilder b;
    const Expr n = Expr::variable(b.variable("n", 1, 64));
    const BufferId x = b.input("x", 64, n), y = b.output("y", 64, n);
    b.launch("k_add", {x, x, y}, {R, R, W}, {n}, Expr(16));
    b.write(folder / "p");
    plan = loadPlan(folder / "p");
  }
};

bool isUsage(int code, const svod_error& error, const std::string& says) {
  return code == 2 && error.exit_code == 2 && std::string(error.code) == "usage" && error.help[0] != '\0' &&
         std::string(error.message).find(says) != std::string::npos;
}

/// `body` on many threads at once, each of which gets its number.
template <class Body>
void together(Body body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) threads.emplace_back([&, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("threads that share a plan and a pool have instances of their own, and each its own results") {
  Doubling d;
  PoolHandle pool(svod_pool_create(3));
  std::atomic<int> wrong{0};
  together([&](int t) {
    for (int round = 0; round < 20; round++) {
      const InstanceHandle instance = makeInstance(d.plan, {pool.get(), nullptr, 0, 0, 0, nullptr, nullptr, 0});
      const std::vector<float> x(static_cast<size_t>(1 + t + round), static_cast<float>(t * 100 + round));
      std::vector<float> y(x.size());
      bindIn(instance, 0, x);
      bindOut(instance, 0, y);
      execute(instance, round % 2 == 0 ? 0 : static_cast<uint64_t>(t + 1));
      wrong += y != std::vector<float>(x.size(), 2 * x[0]);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("an instance that several threads use at once runs for one, and is an error for the others") {
  Doubling d;
  const InstanceHandle instance = makeInstance(d.plan);
  svod_instance* const raw = instance.get();
  const std::vector<float> x(64, 3);
  std::vector<float> y(64);
  bindIn(instance, 0, x);
  bindOut(instance, 0, y);
  std::atomic<int> good{0}, refused{0}, other{0};
  together([&](int t) {
    for (int round = 0; round < 500; round++) {
      svod_error error = {};
      const uint64_t shape = 64;
      uint64_t bytes = 0;
      int code = 0;
      if (t % 3 == 0)
        code = svod_bind_input(raw, 0, "f32", &shape, 1, x.data(), &error);
      else if (t % 3 == 1)
        code = svod_get_shape(raw, SVOD_OUTPUT, 0, nullptr, &bytes, &error);
      else
        code = svod_execute(raw, nullptr, &error);
      svod_clear_variable(raw, 0);
      (void)svod_poll(raw);
      if (code == 0)
        good++;
      else if (isUsage(code, error, "in use"))
        refused++;
      else
        other++;
    }
  });
  CHECK(other == 0);
  CHECK(good + refused == kThreads * 500);
  CHECK(good > 0);
  execute(instance);
  CHECK(y == std::vector<float>(64, 6));
}

TEST_CASE("during a run the instance refuses every other call, and freeing it stops the run first") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId s = b.state("s", 4);
  b.step(HostCall{"hold", {}, {}});
  b.launch("k_add_value", {s}, {RW}, {Expr(4), Expr(1)});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  struct Held {
    std::atomic<bool> isIn{false}, isOver{false};
    svod_instance* self = nullptr;
    int code = 0;
    svod_error error = {};
  } held;
  const auto hold = [](void* user, const svod_host_call*) {
    Held& h = *static_cast<Held*>(user);
    h.code = svod_execute(h.self, nullptr, &h.error);  // from a function that the run calls
    h.isIn = true;
    while (!h.isOver) std::this_thread::yield();
    return 0;
  };
  const svod_host_entry entry = {"hold", hold, &held};
  svod_instance_options options = {};
  options.functions = &entry, options.function_count = 1;
  held.self = makeInstance(plan, options).release();
  int ended = 0;
  std::thread runner([&] { ended = svod_execute(held.self, nullptr, nullptr); });
  while (!held.isIn) std::this_thread::yield();
  CHECK(isUsage(held.code, held.error, "in use"));
  svod_error error = {};
  float data[4] = {};
  CHECK(isUsage(svod_write_state(held.self, 0, data, sizeof data, &error), error, "in use"));
  CHECK(isUsage(svod_submit(held.self, nullptr, &error), error, "in use"));
  CHECK(svod_profile_count(held.self) == 0);
  svod_reset_states(held.self);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    held.isOver = true;
  });
  svod_instance_free(held.self);
  CHECK(held.isOver);
  opener.join();
  runner.join();
  CHECK(ended == 75);
}

TEST_CASE("a pool and a plan that are freed first are there as long as their instances") {
  Doubling d;
  PoolHandle pool(svod_pool_create(3));
  const InstanceHandle instance = makeInstance(d.plan, {pool.get(), nullptr, 0, 0, 0, nullptr, nullptr, 0});
  const InstanceHandle submitted = makeInstance(d.plan, {pool.get(), nullptr, 0, 0, 0, nullptr, nullptr, 0});
  pool.reset();
  d.plan.reset();
  const std::vector<float> x(64, 3);
  std::vector<float> y(64), z(64);
  bindIn(instance, 0, x), bindIn(submitted, 0, x);
  bindOut(instance, 0, y), bindOut(submitted, 0, z);
  REQUIRE(svod_submit(submitted.get(), nullptr, nullptr) == 0);
  execute(instance, 7);
  REQUIRE(svod_wait(submitted.get(), nullptr) == 0);
  CHECK(y == std::vector<float>(64, 6));
  CHECK(z == y);
}

TEST_CASE("null pointers are errors, or nothing where a function has none") {
  Doubling d;
  const InstanceHandle instance = makeInstance(d.plan);
  svod_instance* const raw = instance.get();
  svod_error error = {};
  svod_plan* plan = nullptr;
  svod_instance* made = nullptr;
  const svod_event_point point = {nullptr, 1};
  const svod_submit_options after = {0, &point, 1, nullptr}, many = {0, nullptr, 2, nullptr};
  svod_instance_options options = {};
  options.function_count = 1;
  svod_instance_options named = {};
  const svod_device_option option = {nullptr, "number", nullptr};
  named.device_options = &option, named.device_option_count = 1;
  int64_t value = 0;
  char text[4];
  const std::pair<int, const char*> calls[] = {
      {svod_plan_load(nullptr, nullptr, &plan, &error), "plan_load"},
      {svod_plan_load("p", nullptr, nullptr, &error), "plan_load: plan"},
      {svod_plan_load_memory(nullptr, 3, nullptr, &plan, &error), "plan_load_memory"},
      {svod_plan_load_static("p", nullptr, nullptr, &plan, &error), "plan_load_static"},
      {svod_instance_create(nullptr, nullptr, &made, &error), "instance_create"},
      {svod_instance_create(d.plan.get(), nullptr, nullptr, &error), "instance_create: instance"},
      {svod_instance_create(d.plan.get(), &options, &made, &error), "instance_create: functions"},
      {svod_instance_create(d.plan.get(), &named, &made, &error), "instance_create: option"},
      {svod_bind_input(raw, 0, "f32", nullptr, 1, text, &error), "bind_input: shape"},
      {svod_bind_input(nullptr, 0, "f32", nullptr, 0, text, &error), "bind_input"},
      {svod_bind_output(nullptr, 0, text, 4, &error), "bind_output"},
      {svod_set_variable(nullptr, 0, 1, &error), "set_variable"},
      {svod_get_variable(nullptr, 0, &value, &error), "get_variable"},
      {svod_get_variable(raw, 0, nullptr, &error), "get_variable: value"},
      {svod_get_shape(nullptr, SVOD_INPUT, 0, nullptr, nullptr, &error), "get_shape"},
      {svod_read_state(nullptr, 0, text, 4, &error), "read_state"},
      {svod_write_state(nullptr, 0, text, 4, &error), "write_state"},
      {svod_bind_device_state(nullptr, 0, 0, text, &error), "bind_device_state"},
      {svod_execute(nullptr, nullptr, &error), "execute"},
      {svod_submit(nullptr, nullptr, &error), "submit"},
      {svod_submit(raw, &after, &error), "submit: event"},
      {svod_submit(raw, &many, &error), "submit: events"},
      {svod_wait(nullptr, &error), "wait"},
      {svod_probe(nullptr, 0, text, 4, &error), "probe"},
      {svod_event_wait(nullptr, 1, &error), "event_wait"},
      {svod_list_devices(nullptr, nullptr, 0, text, 4, &error), "list_devices"},
      {svod_list_devices("cuda", nullptr, 0, nullptr, 4, &error), "list_devices: text"}};
  for (const auto& [code, name] : calls) {
    INFO(name);
    CHECK(code == 2);
  }
  CHECK(isUsage(svod_execute(nullptr, nullptr, &error), error, "null pointer"));
  CHECK(svod_execute(nullptr, nullptr, nullptr) == 2);

  svod_plan_info info = {};
  svod_plan_get_info(nullptr, &info);
  svod_plan_get_info(d.plan.get(), nullptr);
  svod_tensor tensor = {};
  svod_variable variable = {};
  svod_processor processor = {};
  CHECK(svod_plan_instance_bytes(nullptr, 1) == 0);
  CHECK(svod_plan_find(nullptr, SVOD_INPUT, "x") == SVOD_NONE);
  CHECK(svod_plan_find(d.plan.get(), SVOD_INPUT, nullptr) == SVOD_NONE);
  CHECK(svod_plan_tensor(nullptr, SVOD_INPUT, 0, &tensor) == 1);
  CHECK(svod_plan_tensor(d.plan.get(), SVOD_INPUT, 0, nullptr) == 1);
  CHECK(svod_plan_variable(nullptr, 0, &variable) == 1);
  CHECK(svod_plan_variable(d.plan.get(), 0, nullptr) == 1);
  CHECK(svod_plan_processor(nullptr, 0, &processor) == 1);
  CHECK(svod_plan_host_function(nullptr, 0) == nullptr);
  CHECK(svod_plan_device(nullptr, 0) == nullptr);
  CHECK(svod_state_data(nullptr, 0) == nullptr);
  CHECK(svod_instance_note(nullptr, 0) == nullptr);
  CHECK(svod_poll(nullptr) == 1);
  CHECK(svod_probe_count(nullptr, 0) == 0);
  CHECK(svod_profile_count(nullptr) == 0);
  CHECK(svod_profile_get(nullptr, 0, nullptr) == 1);
  CHECK(svod_trace_count(nullptr) == 0);
  CHECK(svod_trace_get(nullptr, 0, nullptr) == 1);
  CHECK(svod_trace_dropped(nullptr) == 0);
  CHECK(svod_event_count(nullptr) == 0);
  svod_clear_variable(nullptr, 0), svod_reset_states(nullptr), svod_stop(nullptr), svod_profile_reset(nullptr);
  svod_event_add(nullptr, 1), svod_event_fail(nullptr), svod_event_reset(nullptr), svod_event_free(nullptr);
  svod_instance_free(nullptr), svod_pool_free(nullptr), svod_plan_free(nullptr);
}

TEST_CASE("a name that the plan does not have is told as such by what gets the index") {
  Doubling d;
  const InstanceHandle instance = makeInstance(d.plan);
  svod_error error = {};
  const uint64_t shape = 1;
  float data = 0;
  const size_t none = svod_plan_find(d.plan.get(), SVOD_INPUT, "z");
  CHECK(svod_bind_input(instance.get(), none, nullptr, &shape, 1, &data, &error) == 1);
  CHECK(std::string(error.message) == "there is no such input: svod_plan_find found none of this name");
  CHECK(std::string(error.help).find("svod_plan_tensor") != std::string::npos);
  CHECK(svod_set_variable(instance.get(), none, 1, &error) == 1);
  CHECK(std::string(error.message) == "there is no such variable: svod_plan_find found none of this name");
  CHECK(svod_bind_output(instance.get(), 3, &data, 4, &error) == 1);
  CHECK(std::string(error.message) == "there is no output 3: the plan has 1");
}
