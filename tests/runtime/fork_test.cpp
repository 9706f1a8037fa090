// Forked processes: a child has what its parent made, but none of its threads.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "runtime-min/handles.h"
#include "runtime/harness.h"
#include "runtime/separate.h"

using namespace svod;

namespace {

constexpr int kForks = 200;

/// Forks; the child ends with what `body` returns, or by SIGALRM where that takes too long. 0 when all is well.
int inChild(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

struct Served {
  TempFolder folder;
  PlanHandle plan;
  PoolHandle pool;
  InstanceHandle instance;
  std::vector<float> x = std::vector<float>(256, 3), y = std::vector<float>(256);

  Served() {
    PlanBuilder b;
    const Expr n = Expr::variable(b.variable("n", 1, 256));
    const BufferId in = b.input("x", 256, n), out = b.output("y", 256, n), s = b.state("s", 256), t = b.arena("t", 256);
    b.launch("k_accumulate", {in, s}, {R, RW}, {n}, Expr(64));
    b.launch("k_double", {in, t}, {R, W}, {n}, Expr(64));
    b.launch("k_add", {s, t, out}, {R, R, W}, {n}, Expr(64));
    b.write(folder / "p");
    plan = loadPlan(folder / "p");
    pool.reset(svod_pool_create(4));
    instance = make();
  }
  InstanceHandle make() {
    svod_instance_options options = {};
    options.pool = pool.get();
    InstanceHandle made = makeInstance(plan, options);
    bindIn(made, 0, x);
    bindOut(made, 0, y);
    return made;
  }
  /// One run on all threads of the pool.
  bool gives(const InstanceHandle& of, float want) {
    const svod_execute_options options = {5};
    return svod_execute(of.get(), &options, nullptr) == 0 && y == std::vector<float>(256, want);
  }
};

}  // namespace

TEST_CASE("a child runs what its parent loaded, made and used, on threads of its own, and frees it", "[fork]") {
  Served s;
  REQUIRE(s.gives(s.instance, 9));
  for (int i = 0; i < kForks; i++) {
    const int status = inChild([&] {
      if (!s.gives(s.instance, 12) || svod_pool_threads(s.pool.get()) != 4) return false;
      InstanceHandle other = s.make();
      if (!s.gives(other, 9)) return false;
      if (svod_submit(other.get(), nullptr, nullptr) != 0 || svod_wait(other.get(), nullptr) != 0) return false;
      other.reset(), s.instance.reset(), s.pool.reset(), s.plan.reset();
      return true;
    });
    REQUIRE(status == 0);
  }
  CHECK(s.gives(s.instance, 12));
}

TEST_CASE("a child frees a pool without having used it, and so does the child of a child", "[fork]") {
  Served s;
  CHECK(inChild([&] {
          s.instance.reset(), s.pool.reset();
          return true;
        }) == 0);
  CHECK(inChild([&] {
          return s.gives(s.instance, 9) && inChild([&] {
                                             if (!s.gives(s.instance, 12)) return false;
                                             s.instance.reset(), s.pool.reset();
                                             return true;
                                           }) == 0 &&
                 s.gives(s.instance, 12);
        }) == 0);
  CHECK(s.gives(s.instance, 9));
}

TEST_CASE("an instance that another thread was using when the process was forked is free in the child", "[fork]") {
  Served s;
  std::atomic<bool> isOver{false};
  std::vector<std::thread> busy;
  std::vector<std::vector<float>> results(2, std::vector<float>(256));
  std::vector<InstanceHandle> used;
  for (int t = 0; t < 2; t++) {
    used.push_back(s.make());
    bindOut(used.back(), 0, results[static_cast<size_t>(t)]);
    busy.emplace_back([&, raw = used.back().get()] {
      const svod_execute_options options = {3};
      while (!isOver) (void)svod_execute(raw, &options, nullptr);
    });
  }
  int bad = 0;
  for (int i = 0; i < kForks / 2; i++)
    bad += inChild([&] {
             svod_reset_states(used[0].get());
             bindIn(used[0], 0, s.x);
             bindOut(used[0], 0, s.y);
             if (!s.gives(used[0], 9)) return false;
             used.clear(), s.instance.reset(), s.pool.reset();
             return true;
           }) != 0;
  isOver = true;
  for (std::thread& thread : busy) thread.join();
  CHECK(bad == 0);
}

TEST_CASE("a run that was submitted before the fork goes on in the parent, and ends with an error in the child",
          "[fork]") {
  Served s;
  svod_event* const go = svod_event_create();
  const svod_event_point point = {go, 1};
  const svod_submit_options options = {0, &point, 1, nullptr};
  REQUIRE(svod_submit(s.instance.get(), &options, nullptr) == 0);
  CHECK(inChild([&] {
          svod_event_add(go, 1);  // nobody of this process waits for it
          svod_error error = {};
          if (svod_poll(s.instance.get()) != 1 || svod_wait(s.instance.get(), &error) != 75) return false;
          if (std::string(error.code) != "interrupted" || error.help[0] == '\0' || svod_event_count(go) != 1)
            return false;
          return s.gives(s.instance, 9);
        }) == 0);
  CHECK(inChild([&] {
          s.instance.reset(), s.pool.reset();
          svod_event_free(go);
          return true;
        }) == 0);
  CHECK(svod_poll(s.instance.get()) == 0);
  svod_event_add(go, 1);
  CHECK(svod_wait(s.instance.get(), nullptr) == 0);
  CHECK(s.y == std::vector<float>(256, 9));
  s.instance.reset();
  svod_event_free(go);
}

TEST_CASE("an instance with devices is an error in a child, and freeing it leaves its devices to the parent",
          "[fork]") {
  TempFolder folder;
  loopPlan("gpu").write(folder / "p");
  Separate separate(folder / "p", 1, 1);
  std::vector<std::unique_ptr<Device>> devices;
  for (auto& device : separate.devices) devices.push_back(std::move(device));
  separate.devices.clear();
  svod_instance* const instance = new svod_instance{nullptr, std::move(separate.instance)};
  instance->inner->own(std::move(devices));
  std::vector<float> y(8);
  const uint64_t eight = 8;
  REQUIRE(svod_bind_input(instance, 0, nullptr, &eight, 1, kLoopInput.data(), nullptr) == 0);
  REQUIRE(svod_bind_output(instance, 0, y.data(), 32, nullptr) == 0);
  REQUIRE(svod_set_variable(instance, 0, 3, nullptr) == 0);
  REQUIRE(svod_execute(instance, nullptr, nullptr) == 0);
  CHECK(inChild([&] {
          svod_error error = {};
          if (svod_execute(instance, nullptr, &error) != 6 || std::string(error.code) != "device-failure") return false;
          if (std::string(error.help).find("after the fork") == std::string::npos) return false;
          svod_instance_free(instance);
          return true;
        }) == 0);
  CHECK(svod_execute(instance, nullptr, nullptr) == 0);
  CHECK(y == loopResult(kLoopInput, 3));
  svod_instance_free(instance);
}
