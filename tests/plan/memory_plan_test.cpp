#include "plan/memory_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "plan/check.h"

using namespace svod;

namespace {

/// Steps as lists of buffers they read and write; dependencies are the hazards between separate buffers.
struct Steps {
  MemoryProblem problem;
  explicit Steps(std::vector<uint64_t> sizes) { problem.sizes = std::move(sizes); }
  Steps& step(std::vector<uint32_t> readFrom, std::vector<uint32_t> writeTo) {
    std::vector<BufferAccess>& accesses = problem.steps.emplace_back();
    for (uint32_t buffer : readFrom) accesses.push_back({buffer, 0, problem.sizes[buffer], Mode::Read});
    for (uint32_t buffer : writeTo) accesses.push_back({buffer, 0, problem.sizes[buffer], Mode::Write});
    return *this;
  }
  MemoryLayout place(MemoryMode mode = MemoryMode::Arena) {
    problem.deps.assign(problem.steps.size(), {});
    for (auto [first, then] : hazardPairs(problem.steps)) problem.deps[then].push_back(first);
    return placeBuffers(problem, mode);
  }
};

/// Whether the dependencies with the layout's edges order all accesses to the arena.
bool isSafe(const MemoryProblem& problem, const MemoryLayout& layout) {
  std::vector<std::vector<BufferAccess>> placed(problem.steps.size());
  for (size_t step = 0; step < problem.steps.size(); step++)
    for (const BufferAccess& access : problem.steps[step])
      placed[step].push_back(
          {0, layout.offsets[access.storage] + access.begin, layout.offsets[access.storage] + access.end, access.mode});
  DepLists deps = problem.deps;
  for (auto [first, then] : layout.addedEdges) deps[then].push_back(first);
  auto pairs = hazardPairs(placed);
  return findUnordered(deps, pairs) == nullptr;
}

bool overlap(const MemoryProblem& problem, const MemoryLayout& layout, uint32_t a, uint32_t b) {
  return layout.offsets[a] < layout.offsets[b] + problem.sizes[b] &&
         layout.offsets[b] < layout.offsets[a] + problem.sizes[a];
}

}  // namespace

TEST_CASE("memory: a chain needs two buffers, remap and off behave as named") {
  Steps chain({640, 640, 640, 640, 640});
  chain.step({}, {0}).step({0}, {1}).step({1}, {2}).step({2}, {3}).step({3}, {4});
  const MemoryLayout arena = chain.place();
  CHECK(arena.report.peakBytes == 1280);
  CHECK(arena.report.lowerBoundBytes == 1280);
  CHECK(arena.report.unplannedBytes == 3200);
  CHECK(arena.addedEdges.empty());
  CHECK(isSafe(chain.problem, arena));
  CHECK(chain.place(MemoryMode::Remap).report.peakBytes == 1280);
  CHECK(chain.place(MemoryMode::Off).report.peakBytes == 3200);
  Steps unlike({640, 10, 4096, 5000, 4097, 100});  // of one class: the first three and the last, and two others
  unlike.step({}, {0}).step({0}, {1}).step({1}, {2}).step({2}, {3}).step({3}, {4}).step({4}, {5});
  CHECK(unlike.place(MemoryMode::Remap).report.peakBytes == 4096 + 5056 + 4160 + 64);
}

TEST_CASE("memory: remap never needs more than off") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; round++) {
    std::vector<uint64_t> sizes;
    const uint32_t count = 2 + random() % 12, largest = 1u << (4 + random() % 12);
    for (uint32_t i = 0; i < count; i++) sizes.push_back(1 + random() % largest);
    Steps steps(sizes);
    for (uint32_t i = 0; i < count; i++)
      steps.step(i > 0 ? std::vector<uint32_t>{static_cast<uint32_t>(random() % i)} : std::vector<uint32_t>{}, {i});
    CHECK(steps.place(MemoryMode::Remap).report.peakBytes <= steps.place(MemoryMode::Off).report.peakBytes);
  }
}

TEST_CASE("memory: parallel branches share nothing unless a budget asks for it") {
  Steps diamond({640, 640, 640, 640, 640, 640, 64});  // 0 -> 1 -> 2, 0 -> 3 -> 4, both -> 6
  diamond.step({}, {0}).step({0}, {1}).step({1}, {2}).step({0}, {3}).step({3}, {4}).step({2, 4}, {6});
  MemoryLayout layout = diamond.place();
  CHECK(layout.addedEdges.empty());
  CHECK(isSafe(diamond.problem, layout));
  for (uint32_t left : {1u, 2u})
    for (uint32_t right : {3u, 4u}) CHECK(!overlap(diamond.problem, layout, left, right));
  const uint64_t parallel = layout.report.peakBytes;
  diamond.problem.budgetBytes = 0;
  layout = diamond.place();
  CHECK(layout.report.peakBytes < parallel);
  CHECK(!layout.addedEdges.empty());
  CHECK(layout.report.addedEdges == layout.addedEdges.size());
  CHECK(isSafe(diamond.problem, layout));
}

TEST_CASE("memory: a buffer that is read again much later keeps its place") {
  Steps steps({640, 640, 640, 640});
  steps.step({}, {0}).step({0}, {1}).step({1}, {2}).step({2, 0}, {3});
  const MemoryLayout layout = steps.place();
  for (uint32_t other : {1u, 2u, 3u}) CHECK(!overlap(steps.problem, layout, 0, other));
}

TEST_CASE("memory: in place only where allowed, and only when the source dies there") {
  Steps steps({640, 640, 320});
  steps.step({}, {0}).step({0}, {1}).step({1}, {2});
  steps.problem.inPlace = {{0, 1}, {1, 2}};
  MemoryLayout layout = steps.place();
  CHECK(layout.offsets == std::vector<uint64_t>{0, 0, 0});
  CHECK(layout.report.peakBytes == 640);
  CHECK(isSafe(steps.problem, layout));
  Steps kept({640, 640, 64});
  kept.step({}, {0}).step({0}, {1}).step({0, 1}, {2});
  kept.problem.inPlace = {{0, 1}};
  layout = kept.place();
  CHECK(!overlap(kept.problem, layout, 0, 1));
  Steps larger({320, 640});
  larger.step({}, {0}).step({0}, {1});
  larger.problem.inPlace = {{0, 1}};
  CHECK(!overlap(larger.problem, larger.place(), 0, 1));
}

TEST_CASE("memory: unused and empty buffers cost nothing, the same buffer may be two arguments") {
  Steps steps({640, 0, 640});
  steps.step({}, {0, 1}).step({0, 0, 1}, {0});
  const MemoryLayout layout = steps.place();
  CHECK(layout.report.peakBytes == 640);
}

TEST_CASE("memory: random graphs are safe in every mode, aligned, and reproducible") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; round++) {
    const uint32_t count = 4 + random() % 30;
    std::vector<uint64_t> sizes;
    for (uint32_t i = 0; i < count; i++) sizes.push_back(1 + random() % 2000);
    Steps steps(sizes);
    for (uint32_t i = 0; i < count; i++) {
      std::vector<uint32_t> from;
      for (uint32_t k = 0; i > 0 && k < random() % 3; k++) from.push_back(random() % i);
      steps.step(from, random() % 8 == 0 && i > 0 ? std::vector<uint32_t>{i, static_cast<uint32_t>(random() % i)}
                                                  : std::vector<uint32_t>{i});
      for (uint32_t source : from)
        if (random() % 2 == 0) steps.problem.inPlace.push_back({source, i});
    }
    for (MemoryMode mode : {MemoryMode::Arena, MemoryMode::Remap, MemoryMode::Off})
      for (uint64_t budget : {UINT64_MAX, UINT64_C(0)}) {
        steps.problem.budgetBytes = budget;
        const MemoryLayout layout = steps.place(mode);
        CHECK(isSafe(steps.problem, layout));
        CHECK(layout.report.peakBytes >= layout.report.lowerBoundBytes);
        CHECK(layout.report.peakBytes <= layout.report.unplannedBytes);
        for (uint32_t i = 0; i < count; i++) {
          CHECK(layout.offsets[i] % kPlanAlignment == 0);
          CHECK(layout.offsets[i] + sizes[i] <= layout.report.peakBytes);
        }
        CHECK(steps.place(mode).offsets == layout.offsets);
        if (mode == MemoryMode::Off)
          for (uint32_t a = 0; a < count; a++)
            for (uint32_t b = 0; b < a; b++) CHECK(!overlap(steps.problem, layout, a, b));
      }
  }
}

TEST_CASE("memory: ten thousand steps are planned quickly") {
  std::mt19937 random(5);
  std::vector<uint64_t> sizes(10000);
  for (uint64_t& size : sizes) size = 64 + random() % 100000;
  Steps steps(sizes);
  for (uint32_t i = 0; i < sizes.size(); i++) {
    std::vector<uint32_t> from;
    if (i > 0) from = {i - 1, static_cast<uint32_t>(i - 1 - random() % std::min(i, 8u))};
    steps.step(from, {i});
  }
  const MemoryLayout layout = steps.place();
  CHECK(isSafe(steps.problem, layout));
  CHECK(layout.report.peakBytes < layout.report.unplannedBytes / 50);
}

TEST_CASE("memory of a plan: offsets, views and loops, and the result passes the check") {
  Plan plan;
  plan.files = {{"kernels.so", FileKind::Code, 1, std::string(64, 'a')}};
  plan.variables = {{"i", 0, 2, VariableKind::Loop, 0}};
  for (int i = 0; i < 6; i++)
    plan.buffers.push_back({"t" + std::to_string(i), ElementType::F32, {16}, 64, Place::Arena, 0, 0, 0});
  plan.buffers.push_back({"v", ElementType::F32, {8}, 32, Place::View, 32, 0, 0});  // of t0
  plan.kernels = {
      {0, "k", "k", {{ElementType::F32, Mode::Read, 32}, {ElementType::F32, Mode::Write, 64}}, {}, 1, 0, 0, 0, ""},
      {0, "w", "w", {{ElementType::F32, Mode::Write, 64}}, {}, 1, 0, 0, 0, ""}};
  plan.steps = {{{}, Launch{1, {0}, {}, {}}},    {{}, Launch{0, {0, 1}, {}, {}}},
                {{}, Launch{0, {1, 2}, {}, {}}}, {{}, Launch{0, {6, 3}, {}, {}}},  // the view keeps t0 alive until here
                {{}, Loop{0, Expr(3), 2}},       {{}, Launch{0, {3, 4}, {}, {}}},
                {{}, Launch{0, {4, 3}, {}, {}}}, {{}, Launch{0, {3, 5}, {}, {}}}};
  for (MemoryMode mode : {MemoryMode::Arena, MemoryMode::Remap, MemoryMode::Off})
    for (uint64_t budget : {UINT64_MAX, UINT64_C(0)}) {
      Plan planned = plan;
      planMemory(planned, {mode, budget, {}});
      auto status = check(planned);
      INFO(nameOf(mode) << (status ? "" : toText(status.error())));
      CHECK(status);
      const auto offset = [&](BufferId id) { return planned.buffers[id].offset; };
      CHECK(offset(3) != offset(4));
      CHECK(offset(0) != offset(1));
      CHECK(offset(0) != offset(2));
      CHECK(memoryModeFromName(planned.memory.mode) == mode);
      // What is written after a loop may lie where something before the loop was.
      if (mode == MemoryMode::Arena) CHECK(arenaBytes(planned) == (budget == 0 ? 3 * 64 : 5 * 64));
    }
}

TEST_CASE("memory of a plan: buffers share bytes with those of their own device only") {
  Plan plan;
  plan.files = {{"kernels.so", FileKind::Code, 1, std::string(64, 'a')}};
  plan.devices.push_back({"other", DeviceKind::Cpu, 0});
  for (uint32_t i = 0; i < 6; i++)
    plan.buffers.push_back({"t", ElementType::F32, {16}, 64, Place::Arena, 0, 0, 0, DeviceId(i / 3)});
  for (uint32_t i = 1; i < 6; i++) plan.steps.push_back({{}, Copy{BufferId(i), BufferId(i - 1), 64}});
  planMemory(plan, {});
  CHECK(check(plan));
  for (const DeviceDesc& device : plan.devices) CHECK(device.arenaBytes == 2 * 64);
  CHECK(plan.buffers[0].offset == plan.buffers[2].offset);
  CHECK(plan.buffers[3].offset == plan.buffers[5].offset);
  CHECK(plan.memory.peakBytes == 4 * 64);
}

namespace {

/// Random steps over buffers whose sizes follow two variables in different ways.
Plan randomRunPlan(uint32_t seed) {
  std::mt19937 random(seed);
  Plan plan;
  plan.files = {{"kernels.so", FileKind::Code, 1, std::string(64, 'a')}};
  plan.variables = {{"n", 1, 64, VariableKind::Free, 0, 5}, {"m", 0, 100, VariableKind::Free, 0}};
  const Expr n = Expr::variable(0), m = Expr::variable(1);
  const uint32_t count = 3 + random() % 20;
  for (uint32_t i = 0; i < count; i++) {
    const Expr sizes[] = {n * 4, n * n * 4, m * 12, n * m * 4, 400, m * m + n};
    const uint64_t most[] = {256, 16384, 1200, 25600, 400, 10064};
    const size_t kind = random() % 6;
    BufferDesc buffer{"t", ElementType::I8, {most[kind]}, most[kind], Place::Arena, 0, 0, 0};
    if (kind != 4) buffer.run = RunPlace{0, 0, sizes[kind]};
    plan.buffers.push_back(buffer);
    if (i == 0) continue;
    const uint32_t from = random() % 3 == 0 ? i - 1 : random() % i;
    plan.steps.push_back({{}, Copy{BufferId(i), BufferId(from), 1}});
  }
  return plan;
}

}  // namespace

TEST_CASE("memory of a plan: what is laid out for every run is right at all sizes") {
  for (uint32_t seed = 0; seed < 300; seed++) {
    INFO(seed);
    Plan plan = randomRunPlan(seed);
    const MemoryMode mode = static_cast<MemoryMode>(seed % 3);
    planMemory(plan, {mode, seed % 5 == 0 ? 0 : UINT64_MAX, {}});
    const auto status = check(plan);
    INFO((status ? "" : toText(status.error())));
    REQUIRE(status);
    DepLists deps;
    for (const Step& step : plan.steps) deps.emplace_back(step.deps.begin(), step.deps.end());
    for (const std::vector<int64_t>& values :
         std::vector<std::vector<int64_t>>{{1, 0}, {5, 0}, {64, 100}, {7, 99}, {64, 1}}) {
      const std::vector<BufferSpan> spans = spansAt(plan, values);
      std::vector<std::vector<BufferAccess>> accesses;
      for (const Step& step : plan.steps) {
        const Copy& copy = std::get<Copy>(step.action);
        std::vector<BufferAccess>& both = accesses.emplace_back();
        const auto add = [&](BufferId id, Mode use) {
          both.push_back({0, spans[id].offset, spans[id].offset + spans[id].bytes, use});
        };
        add(copy.src, Mode::Read), add(copy.dst, Mode::Write);
        CHECK(spans[copy.dst].offset + spans[copy.dst].bytes <= plan.devices[0].arenaBytes);
        CHECK(spans[copy.dst].offset % kPlanAlignment == 0);
      }
      auto pairs = hazardPairs(accesses);
      CHECK(findUnordered(deps, pairs) == nullptr);
    }
  }
}

TEST_CASE("memory of a plan: what is empty at some sizes has units of its own, as at all others") {
  Plan plan;
  plan.files = {{"kernels.so", FileKind::Code, 1, std::string(64, 'a')}};
  plan.variables = {{"m", 0, 7, VariableKind::Free, 0}};
  for (uint32_t i = 0; i < 3; i++) {
    plan.buffers.push_back({"t", ElementType::I8, {84}, 84, Place::Arena, 0, 0, 0});
    plan.buffers.back().run = RunPlace{0, 0, Expr::variable(0) * 12};
    if (i > 0) plan.steps.push_back({{}, Copy{BufferId(i), BufferId(i - 1), 1}});
  }
  planMemory(plan, {});
  REQUIRE(check(plan));
  for (uint32_t i = 1; i < plan.buffers.size(); i++) {
    const ArenaRange from = placeOf(plan.buffers[BufferId(i - 1)]), to = placeOf(plan.buffers[BufferId(i)]);
    CHECK((from.end <= to.begin || to.end <= from.begin));
  }
  CHECK(arenaBytes(plan) == 256);
}

TEST_CASE("memory of a plan: a run takes what the same plan with those sizes takes") {
  Plan plan;
  plan.files = {{"kernels.so", FileKind::Code, 1, std::string(64, 'a')}};
  plan.variables = {{"b", 1, 512, VariableKind::Free, 0, 1}, {"s", 1, 512, VariableKind::Free, 0, 64}};
  const Expr rows = Expr::variable(0) * Expr::variable(1);
  for (uint32_t layer = 0; layer < 4; layer++)  // a block of a transformer: widths 768, three times that, scores, 3072
    for (const Expr& size : {rows * 3072, rows * 9216, rows * Expr::variable(1) * 48, rows * 3072, rows * 12288}) {
      const uint64_t most = static_cast<uint64_t>(*size.tryEvaluate(std::vector<int64_t>{512, 512}));
      plan.buffers.push_back({"t", ElementType::I8, {most}, most, Place::Arena, 0, 0, 0});
      plan.buffers.back().run = RunPlace{0, 0, size};
    }
  for (uint32_t i = 1; i < plan.buffers.size(); i++) plan.steps.push_back({{}, Copy{BufferId(i), BufferId(i - 1), 1}});
  Plan free = plan;
  planMemory(free, {});
  REQUIRE(check(free));
  for (const std::vector<int64_t>& values :
       std::vector<std::vector<int64_t>>{{1, 64}, {1, 1}, {1, 7}, {1, 333}, {8, 64}, {512, 512}}) {
    Plan fixed = plan;
    for (BufferDesc& buffer : fixed.buffers) {
      buffer.bytes = static_cast<uint64_t>(*buffer.run->bytes.tryEvaluate(values));
      buffer.shape = {buffer.bytes}, buffer.run.reset();
    }
    planMemory(fixed, {});
    uint64_t end = 0;
    for (const BufferSpan& span : spansAt(free, values)) end = std::max(end, span.offset + span.bytes);
    CHECK(static_cast<double>(end) <= 1.2 * static_cast<double>(arenaBytes(fixed)));
  }
}

TEST_CASE("memory of a plan: what is expected stays to the end") {
  Plan plan;
  plan.files = {{"kernels.so", FileKind::Code, 1, std::string(64, 'a')}};
  for (int i = 0; i < 3; i++)
    plan.buffers.push_back({"t" + std::to_string(i), ElementType::I64, {2, 4}, 64, Place::Arena, 0, 0, 0});
  for (BufferId i = 0; i < 2; i++) plan.steps.push_back({{}, Copy{i + 1, i, 64}});
  Plan expecting = plan;
  expecting.expectations = {{0, ExpectationKind::Agrees, "sizes"}};
  planMemory(plan, {});
  CHECK(plan.buffers[0].offset == plan.buffers[2].offset);
  planMemory(expecting, {});
  CHECK(check(expecting));
  CHECK(expecting.buffers[0].offset != expecting.buffers[2].offset);
  CHECK(arenaBytes(expecting) == 3 * 64);
}
