// Plans as one file: loaded and run in place, by many instances at once.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <thread>

#include "plan/pack.h"
#include "runtime/harness.h"

using namespace svod;

namespace {

/// y = x + w, and the address of w.
void writeSumPack(const std::string& path, uint64_t count) {
  PlanBuilder b;
  const BufferId x = b.input("x", count, Expr(int64_t(count))), y = b.output("y", count, Expr(int64_t(count))),
                 w = b.constant("w", std::vector<float>(count, 2.5F));
  const BufferId address = b.output("address", 1, Expr(1), ElementType::U64);
  b.launch("k_add", {x, w, y}, {R, R, W}, {Expr(int64_t(count))}, Expr(int64_t((count + 3) / 4)));
  b.launch("k_address", {w, address}, {R, W}, {Expr(1)}, Expr(1));
  b.writePackFile(path);
}

/// The line of /proc/self/maps for an address.
std::string mappingOf(uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx", &begin, &end) == 2 && begin <= address && address < end) return line;
  }
  return "";
}

/// A number of /proc/self/status, in KiB.
int64_t memoryOf(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1));
  FAIL("there is no " << name);
  return 0;
}

PlanHandle loadTrusted(const std::string& path) {
  svod_plan* plan = nullptr;
  svod_error error = {};
  const svod_load_options trust = {-1, nullptr};
  if (svod_plan_load(path.c_str(), &trust, &plan, &error) != 0) FAIL(error.message);
  return PlanHandle(plan);
}

size_t openFiles() { return entriesIn("/proc/self/fd"); }

}  // namespace

TEST_CASE("a pack runs where it lies, and leaves nothing behind") {
  TempFolder folder;
  const std::string path = folder / "sum.pack";
  writeSumPack(path, 1000);
  const size_t before = openFiles();
  {
    const PlanHandle plan = loadPlan(path);
    const InstanceHandle instance = makeInstance(plan);
    const std::vector<float> x(1000, 1.5F);
    std::vector<float> y(1000);
    std::vector<uint64_t> address(1);
    bindIn(instance, 0, x);
    bindOut(instance, 0, y);
    bindOut(instance, 1, address);
    execute(instance);
    CHECK(y == std::vector<float>(1000, 4.0F));
    const std::string mapping = mappingOf(address[0]);
    INFO(mapping);
    CHECK(mapping.ends_with(path));
    CHECK(address[0] % kPackAlignment == 0);
    CHECK(entriesIn(folder.path()) == 1);
  }
  CHECK(openFiles() == before);
  CHECK(entriesIn(folder.path()) == 1);
}

TEST_CASE("weights of a pack take no memory of the process") {
  if (kAddressSanitizer || kThreadSanitizer) return;  // they keep accounts of memory in memory
  constexpr uint64_t kCount = UINT64_C(8) << 20;
  constexpr int64_t kKib = kCount * 4 / 1024;
  TempFolder folder;
  writeSumPack(folder / "large.pack", kCount);
  const std::vector<float> x(kCount, 1);
  std::vector<float> y(kCount);
  std::vector<uint64_t> address(1);
  const int64_t anonymous = memoryOf("RssAnon"), mapped = memoryOf("RssFile");
  const PlanHandle plan = loadTrusted(folder / "large.pack");
  CHECK(memoryOf("RssAnon") - anonymous < kKib / 8);
  CHECK(memoryOf("RssFile") - mapped < kKib / 8);
  const InstanceHandle instance = makeInstance(plan);
  bindIn(instance, 0, x);
  bindOut(instance, 0, y);
  bindOut(instance, 1, address);
  execute(instance);
  CHECK(y.back() == 3.5F);
  CHECK(memoryOf("RssAnon") - anonymous < kKib / 8);
  CHECK(memoryOf("RssFile") - mapped > kKib / 2);  // pages of the file, which the system may drop
}

TEST_CASE("eight threads run eight instances of one pack") {
  TempFolder folder;
  writeSumPack(folder / "sum.pack", 4096);
  const PlanHandle plan = loadPlan(folder / "sum.pack");
  std::vector<int> wrong(8, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++)
    threads.emplace_back([&, t] {
      const InstanceHandle instance = makeInstance(plan);
      std::vector<float> x(4096), y(4096);
      std::vector<uint64_t> address(1);
      bindIn(instance, 0, x);
      bindOut(instance, 0, y);
      bindOut(instance, 1, address);
      for (int round = 0; round < 50; round++) {
        std::fill(x.begin(), x.end(), static_cast<float>(t * 100 + round));
        execute(instance);
        for (float value : y) wrong[static_cast<size_t>(t)] += value != static_cast<float>(t * 100 + round) + 2.5F;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(8, 0));
}

TEST_CASE("eight threads load one pack at once") {
  TempFolder folder;
  const std::string path = folder / "sum.pack";
  writeSumPack(path, 8);
  std::vector<int> right(8, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; round++) {
        const PlanHandle plan = loadPlan(path);
        const InstanceHandle instance = makeInstance(plan);
        const std::vector<float> x(8, 1);
        std::vector<float> y(8);
        std::vector<uint64_t> address(1);
        bindIn(instance, 0, x);
        bindOut(instance, 0, y);
        bindOut(instance, 1, address);
        execute(instance);
        right[static_cast<size_t>(t)] += y == std::vector<float>(8, 3.5F);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(8, 20));
}
