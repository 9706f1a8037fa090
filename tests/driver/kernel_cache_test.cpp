#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "common/graphs.h"
#include "common/temp_folder.h"
#include "driver/compile.h"
#include "driver/compiler_id.h"
#include "driver/kernel_cache.h"
#include "plan/json.h"

using namespace svod;

namespace {

/// Several kernels; two orders of creation, one content.
void build(GraphMaker& m, bool backwards) {
  UOp x = m.input("x", {37, 53}), y = m.input("y", {53, 19});
  if (backwards) m.g.alu(Op::Sin, {m.g.alu(Op::Exp, {x})}), m.matmul(x, y, 37, 19, 53);
  m.output("s", m.softmax(x, 37, 53));
  m.output("p", m.matmul(x, y, 37, 19, 53));
  m.output("w", m.g.alu(Op::Sin, {m.g.alu(Op::Exp, {y})}));
}

struct Built {
  std::string source, plan;
  int64_t reused = 0;
  bool operator==(const Built&) const = default;
};

CpuTarget& cpuOf(CompileOptions& options) { return std::get<CpuTarget>(options.machine); }

std::string sourceOf(const Compilation& c) {
  for (const PlanFile& file : c.files)
    if (file.kind == FileKind::Source)
      return {reinterpret_cast<const char*>(file.chunks[0].data()), file.chunks[0].size()};
  return "";
}

Built compiled(KernelCache* cache, const std::function<void(CompileOptions&)>& change = {}, bool backwards = false) {
  GraphMaker m;
  build(m, backwards);
  CompileOptions options;
  options.target = *targetByName("c"), options.tools = *options.target->open({{{"cc", "none"}}}), options.jobs = 3,
  options.cache = cache;
  options.machine = makeCpuTarget("x86_64-unknown-linux-gnu", "x86-64-v3").value();
  if (change) change(options);
  auto done = compile(m.model, options);
  if (!done) FAIL(toText(done.error()));
  const Compilation& c = **done;
  return {sourceOf(c), toJson(c.plan), std::ranges::count(c.kernels, true, &CompiledKernel::reused)};
}

}  // namespace

TEST_CASE("Kernels from the cache are those that compiling gives") {
  const TempFolder folder;
  KernelCache cache(folder.path(), 1 << 20, "one compiler");
  const Built fresh = compiled(nullptr);
  CHECK(compiled(&cache) == fresh);
  Built again = compiled(&cache, {}, true);
  CHECK(again.reused == 3);
  again.reused = 0;
  CHECK(again == fresh);
  CHECK(!cache.finish());
  KernelCache other(folder.path(), 1 << 20, "another compiler");
  CHECK(compiled(&other).reused == 0);
}

TEST_CASE("Every option that code depends on is part of the key") {
  const std::pair<const char*, std::function<void(CompileOptions&)>> changes[] = {
      {"cores", [](CompileOptions& o) { cpuOf(o).cores += 1; }},
      {"cache sizes", [](CompileOptions& o) { cpuOf(o).l2Bytes *= 2; }},
      {"registers", [](CompileOptions& o) { cpuOf(o).vectorRegisters = 32; }},
      {"features", [](CompileOptions& o) { cpuOf(o).features.pop_back(); }},
      {"level", [](CompileOptions& o) { o.optLevel = 0; }},
      {"numerics", [](CompileOptions& o) { o.numerics = Numerics::Strict; }},
      {"rules", [](CompileOptions& o) { o.passes.disabledRules = {"fold-constants"}; }},
      {"passes", [](CompileOptions& o) { o.passes.bisectLimit = 11; }},
      {"without a pass", [](CompileOptions& o) { o.passes.disabledPasses = {"apply-opts"}; }},
      {"checks", [](CompileOptions& o) { o.passes.verifyEach = !o.passes.verifyEach; }},
      {"opts", [](CompileOptions& o) { o.opts = {{"", {}}}; }},
  };
  const TempFolder folder;
  KernelCache cache(folder.path(), 1 << 20, "compiler");
  compiled(&cache);
  for (const auto& [name, change] : changes) {
    INFO(name);
    CHECK(compiled(&cache, change).reused == 0);
    CHECK(compiled(&cache, change).reused == 3);
  }
}

TEST_CASE("Compiles of several threads share a cache") {
  const TempFolder folder;
  KernelCache cache(folder.path(), 1 << 20, "compiler");
  const Built fresh = compiled(nullptr);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      const Built mine = compiled(&cache, {}, t == 1);
      if (mine.source != fresh.source || mine.plan != fresh.plan || cache.finish()) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(compiled(&cache).reused == 3);
}

TEST_CASE("A compiler knows itself") {
  CHECK(compilerId() == compilerId());
  if (compilerId().empty()) return;  // linked without a build id
  CHECK(compilerId().starts_with("svod "));
  CHECK(compilerId().size() > 50);
}
