// The application's own memory (svod_memory): what is asked for, and that everything is given back. And where the
// system gives no more, errors.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "runtime/harness.h"

using namespace svod;

namespace {

/// Counts, and refuses from the `left`-th request on.
struct Ledger {
  struct Entry {
    uint64_t bytes, alignment;
    std::string purpose;
  };
  std::map<void*, Entry> live;
  std::map<std::string, Entry> seen;
  int left = 1000;

  svod_memory memory(bool separate) {
    svod_memory out = {};
    out.allocate = [](void* self, uint64_t bytes, uint64_t alignment, const char* purpose) -> void* {
      auto& ledger = *static_cast<Ledger*>(self);
      if (ledger.left-- <= 0) return nullptr;
      void* data = std::aligned_alloc(alignment < 16 ? 16 : alignment, (bytes + 63) / 64 * 64);
      ledger.live[data] = ledger.seen[purpose] = {bytes, alignment, purpose};
      return data;
    };
    out.release = [](void* self, void* data, uint64_t bytes) {
      auto& ledger = *static_cast<Ledger*>(self);
      REQUIRE(ledger.live.count(data) == 1);
      CHECK(ledger.live[data].bytes == bytes);
      ledger.live.erase(data);
      std::free(data);
    };
    out.user = this;
    out.separate = separate ? 1 : 0;
    return out;
  }
};

/// y = 2 * reverse(x + s), s a state; what is doubled are views of the first and the second half.
PlanHandle samplePlan(const TempFolder& folder) {
  PlanBuilder b;
  const Expr n(8);
  const BufferId x = b.input("x", 8, n), s = b.state("s", 8), sum = b.arena("sum", 8),
                 reversed = b.arena("reversed", 8), y = b.output("y", 8, n);
  b.launch("k_add", {x, s, sum}, {R, R, W}, {n});
  b.launch("k_reverse", {sum, reversed}, {R, W}, {n}, Expr(1), 100);
  for (uint64_t half : {0, 1}) {
    const std::string name = "half " + std::to_string(half);
    b.launch("k_double", {b.view(name, reversed, 16 * half, 4), b.view("y of " + name, y, 16 * half, 4)}, {R, W}, {4});
  }
  b.write(folder / "p.plan");
  return loadPlan(folder / "p.plan");
}

}  // namespace

namespace {

/// Bytes of this process in memory now.
size_t residentBytes() {
  size_t size = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%zu %zu", &size, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return resident * 4096;
}

}  // namespace

TEST_CASE("an arena beyond all memory costs what the runs touch") {
  constexpr uint64_t kMost = UINT64_C(1) << 38;  // floats: 1 TiB
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 1, static_cast<int64_t>(kMost)));
  const BufferId x = b.input("x", kMost, n), twice = b.arena("twice", kMost), y = b.output("y", kMost, n);
  b.launch("k_double", {x, twice}, {R, W}, {n});
  b.launch("k_double", {twice, y}, {R, W}, {n});
  b.write(folder / "p.plan");
  const PlanHandle plan = loadPlan(folder / "p.plan");
  CHECK(svod_plan_instance_bytes(plan.get(), 1) > kMost);

  const size_t before = residentBytes();
  const InstanceHandle instance = makeInstance(plan);
  for (const size_t size : {16, 1000, 16}) {
    const std::vector<float> data(size, 1.5f);
    std::vector<float> result(size);
    bindIn(instance, 0, data);
    bindOut(instance, 0, result);
    execute(instance);
    CHECK(result == std::vector<float>(size, 6));
  }
  constexpr size_t kLittle = 8 << 20;  // sanitizers keep books
  CHECK(residentBytes() < before + kLittle);
}

namespace {

/// y = 8 * x, in four steps: the first and the third value lie in one unit, the second behind it. `most` elements.
PlanHandle runPlan(const TempFolder& folder, uint64_t most) {
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 0, static_cast<int64_t>(most)));
  const uint64_t bytes = (most * 4 + 63) / 64 * 64;
  const BufferId x = b.input("x", most, n), first = b.arenaInUnits("first", most, n, 0, 1, bytes),
                 second = b.arenaInUnits("second", most, n, 1, 2, bytes),
                 third = b.arenaInUnits("third", most, n, 0, 1, 0), y = b.output("y", most, n);
  b.launch("k_double", {x, first}, {R, W}, {n});
  b.launch("k_double", {first, second}, {R, W}, {n});
  b.launch("k_double", {second, third}, {R, W}, {n});
  b.step(Copy{y, third, n * 4});
  b.write(folder / "p.plan");
  return loadPlan(folder / "p.plan");
}

void runWith(const InstanceHandle& instance, size_t size, float value) {
  const std::vector<float> data(size, value);
  std::vector<float> result(size);
  bindIn(instance, 0, data);
  bindOut(instance, 0, result);
  execute(instance);
  CHECK(result == std::vector<float>(size, 8 * value));
}

}  // namespace

TEST_CASE("an arena that is laid out for every run takes what the greatest run needed") {
  TempFolder folder;
  const PlanHandle plan = runPlan(folder, UINT64_C(1) << 40);
  const bool separate = GENERATE(false, true);
  Ledger ledger;
  const svod_memory memory = ledger.memory(separate);
  svod_instance_options options = {};
  options.memory = &memory;
  {
    const InstanceHandle instance = makeInstance(plan, options);
    CHECK(ledger.seen.count("arena") == 0);
    const auto bytesOf = [&](const std::string& purpose) { return ledger.seen.at(purpose).bytes; };
    const auto most = [&] { return separate ? bytesOf("first") + bytesOf("second") : bytesOf("arena"); };
    for (const auto& [size, bytes] :
         std::vector<std::pair<size_t, uint64_t>>{{16, 128}, {3, 128}, {0, 128}, {160, 1280}, {16, 1280}}) {
      runWith(instance, size, 1.5f);
      CHECK(most() == bytes);
      CHECK(ledger.live.size() == (separate ? 3 : 1));
    }
  }
  CHECK(ledger.live.empty());
}

TEST_CASE("memory of the system for an arena that is laid out for every run is what is touched") {
  TempFolder folder;
  const PlanHandle plan = runPlan(folder, UINT64_C(1) << 38);
  const size_t before = residentBytes();
  const InstanceHandle instance = makeInstance(plan);
  for (const size_t size : {16, 1000, 0, 16}) runWith(instance, size, 0.5f);
  runWith(instance, 1 << 20, 2.0f);
  constexpr size_t kLittle = 24 << 20;  // 8 MiB of the arena, as much outside, and what sanitizers keep
  CHECK(residentBytes() < before + kLittle);
}

TEST_CASE("a value in an arena that moves is looked into where it is") {
  TempFolder folder;
  const PlanHandle plan = runPlan(folder, 100);
  const InstanceHandle instance = makeInstance(plan);
  std::vector<float> seen(100, -1.0f);
  svod_error error = {};
  const size_t second = svod_plan_find(plan.get(), SVOD_INTERMEDIATE, "second");
  REQUIRE(svod_probe(instance.get(), second, seen.data(), seen.size() * 4, &error) == 0);
  for (const size_t size : {3, 40, 1}) {
    std::fill(seen.begin(), seen.end(), -1.0f);
    runWith(instance, size, 1.0f);
    for (size_t i = 0; i < seen.size(); i++) CHECK(seen[i] == (i < size ? 4.0f : -1.0f));
  }
}

TEST_CASE("a size that is none, or beyond its greatest, ends the run before its first step") {
  TempFolder folder;
  PlanBuilder b;
  const VariableId n = b.variable("n", 0, 100);
  const Expr size = Expr::variable(n) * Expr::variable(n) - 16;
  const BufferId x = b.input("x", 1, 1), t = b.arenaInUnits("t", 16, size, 0, 1, 64), y = b.output("y", 1, 1);
  b.launch("k_double", {x, t}, {R, W}, {1});
  b.step(Copy{y, t, 4});
  b.write(folder / "p.plan");
  const PlanHandle plan = loadPlan(folder / "p.plan");
  const InstanceHandle instance = makeInstance(plan);
  const std::vector<float> data = {1};
  std::vector<float> result(1);
  bindIn(instance, 0, data);
  bindOut(instance, 0, result);
  svod_error error = {};
  for (const int64_t value : {3, 6}) {
    REQUIRE(svod_set_variable(instance.get(), 0, value, &error) == 0);
    const svod_error refused = executeError(instance);
    CHECK(std::string(refused.code) == "variable-bounds");
    CHECK_THAT(std::string(refused.message), Catch::Contains("'t'"));
  }
  REQUIRE(svod_set_variable(instance.get(), 0, 5, &error) == 0);
  execute(instance);
  CHECK(result[0] == 2);
}

TEST_CASE("an instance takes its memory from the application and gives it back") {
  TempFolder folder;
  PlanHandle plan = samplePlan(folder);
  const bool separate = GENERATE(false, true);
  Ledger ledger;
  const svod_memory memory = ledger.memory(separate);
  svod_instance_options options = {};
  options.memory = &memory;
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};  // stays the caller's, as does y
  std::vector<float> y(8);
  {
    InstanceHandle instance = makeInstance(plan, options);
    bindIn(instance, 0, x);
    bindOut(instance, 0, y);
    svod_error error = {};
    REQUIRE(svod_execute(instance.get(), nullptr, &error) == 0);
    CHECK(y == std::vector<float>{16, 14, 12, 10, 8, 6, 4, 2});
    CHECK(ledger.live.count(svod_state_data(instance.get(), 0)) == 1);
  }
  CHECK(ledger.live.empty());
  CHECK(x == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(ledger.seen.at("scratch").alignment == 64);
  if (separate) {
    CHECK(ledger.seen.size() == 4);
    for (const char* name : {"sum", "reversed", "s"}) {
      CHECK(ledger.seen.at(name).bytes == 32);
      CHECK(ledger.seen.at(name).alignment == 4);
    }
  } else {
    CHECK(ledger.seen.size() == 3);
    CHECK(ledger.seen.at("arena").bytes == 128);
    CHECK(ledger.seen.at("states").alignment == 64);
  }
}

TEST_CASE("memory that is refused is an error, and what was had is given back") {
  TempFolder folder;
  PlanHandle plan = samplePlan(folder);
  for (int left = 0; left < 3; left++) {
    Ledger ledger;
    ledger.left = left;
    const svod_memory memory = ledger.memory(false);
    svod_instance_options options = {};
    options.memory = &memory;
    svod_instance* instance = nullptr;
    svod_error error = {};
    CHECK(svod_instance_create(plan.get(), &options, &instance, &error) == 6);
    CHECK(instance == nullptr);
    CHECK(std::string(error.code) == "device-failure");
    CHECK(ledger.live.empty());
  }
}

namespace {

/// In a process that may take `more` bytes of addresses besides those it has: 0 loaded and instantiated, 6 refused.
int statusWithin(const std::string& path, size_t more) {
  const pid_t child = ::fork();
  if (child == 0) {
    size_t pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) ::_exit(99);
    std::fclose(file);
    const rlimit limit = {pages * 4096 + more, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(99);
    svod_plan* plan = nullptr;
    svod_instance* instance = nullptr;
    svod_error error = {};
    int code = svod_plan_load(path.c_str(), nullptr, &plan, &error);
    if (code == 0) code = svod_instance_create(plan, nullptr, &instance, &error);
    ::_exit(code);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("where the system has no memory for a plan or an instance, they are refused") {
  if (kAddressSanitizer || kThreadSanitizer) return;  // these have addresses of their own
  TempFolder folder;
  PlanBuilder b;
  const Expr n(8);
  BufferId last = b.input("x", 8, n);
  for (int i = 0; i < 1000; i++) {
    const BufferId next = b.arena("value" + std::to_string(i), 8);
    b.launch("k_double", {last, next}, {R, W}, {n});
    last = next;
  }
  b.launch("k_double", {last, b.output("y", 8, n)}, {R, W}, {n});
  b.write(folder / "p.plan");
  int refused = 0;
  size_t more = 0;
  for (int status = 1; status != 0 && more < (size_t{1} << 28); more += 300'000) {
    status = statusWithin(folder / "p.plan", more);
    INFO(more);
    REQUIRE((status == 0 || status == info(Diag::DeviceFailure).exitCode || status == info(Diag::BadPlan).exitCode ||
             status == info(Diag::Io).exitCode));
    refused += status == info(Diag::DeviceFailure).exitCode;
  }
  CHECK(refused > 3);
  CHECK(statusWithin(folder / "p.plan", more) == 0);
}
