// What is chosen for the kernels of a GPU: a strategy for each class, values that stay, accesses that waste nothing.
#include <catch2/catch.hpp>

#include "choose/choose.h"
#include "common/model_text.h"
#include "cost/gpu_cost.h"
#include "cost/gpu_tiles.h"
#include "cost/predict.h"
#include "cost/warp_touches.h"
#include "ir/text.h"
#include "ir/workgroup.h"
#include "opts/emulate.h"
#include "opts/replay.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

Caps capsFor(std::string_view name) { return capsOf(*findGpu(name), Numerics::Contract); }

Schedule scheduled(Model& model) {
  ScheduleOptions options;
  options.machine.narrowProducts = true;
  auto schedule = makeSchedule(model, options);
  if (!schedule) FAIL(toText(schedule.error()));
  return std::move(*schedule);
}

struct ClassCase {
  const char *strategy, *text;
};
constexpr ClassCase kClasses[] = {
    {"core-tiles", "input a: f16[4096, 4096]\ninput b: f16[4096, 4096]\noutput y = matmul(a, b)"},
    {"core-tiles", "input a: bf16[197, 768]\ninput b: bf16[768, 768]\noutput y = matmul(a, b)"},
    {"lane-tiles", "input a: f32[1024, 1024]\ninput b: f32[1024, 1024]\noutput y = relu(matmul(a, b))"},
    {"lane-tiles", "input x: f32[1, 64, 56, 56]\ninput w: f32[64, 64, 3, 3]\noutput y = conv2d(x, w, padding=1)"},
    {"row-groups", "input x: f32[4096, 1024]\noutput y = softmax(x)"},
    {"row-groups", "input x: f32[4096, 1024]\noutput y = layer_norm(x)"},
    {"row-groups", "input x: f32[4096, 4096]\noutput y = sum(x, axes=1)"},
    {"row-groups",  // the largest operand is read once for each sum
     "input h: f32[256]\ninput w: f32[512, 256]\ninput k: f32[4096, 512]\n"
     "output y = tanh(sum(w * expand(reshape(h, shape=[1, 256]), shape=[512, 256]), axes=1) + "
     "reshape(k[5:6], shape=[512]))"},
    {"column-groups", "input x: f32[512, 4096]\noutput y = reduce_max(x, axes=0)"},
    {"squares", "input x: f32[4096, 4096]\noutput y = transpose(x)"},
    {"grid-streams", "input a: f32[16777216]\ninput b: f32[16777216]\noutput y = relu(a * b + a) * b"},
    {"held-rows",
     "input q: f32[8, 512, 64]\ninput k: f32[8, 512, 64]\ninput v: f32[8, 512, 64]\noutput y = attention(q, k, v)"},
};

/// Small and odd shapes of the same classes, and of others.
constexpr const char* kSmall[] = {
    "input a: f16[100, 64]\ninput b: f16[64, 72]\noutput y = matmul(a, b)",
    "input a: f16[33, 40]\ninput b: f16[48, 40]\noutput y = matmul(a, transpose(b))",
    "input a: bf16[3, 40, 32]\ninput b: bf16[3, 32, 24]\noutput y = relu(matmul(cast(a, dtype=f32), cast(b, "
    "dtype=f32)))",
    "input a: f32[37, 41]\ninput b: f32[41, 29]\ninput c: f32[29]\noutput y = relu(matmul(a, b) + c)",
    "input a: f32[64, 64]\ninput b: f32[64, 64]\noutput y = matmul(transpose(a), b)",
    "input a: f32[1, 64]\ninput b: f32[64, 48]\noutput y = matmul(a, b)",
    "input x: f32[2, 9, 12, 10]\ninput w: f32[13, 9, 3, 3]\noutput y = conv2d(x, w, padding=[1, 1])",
    "input x: f32[2, 8, 12, 10]\ninput w: f32[16, 4, 3, 3]\noutput y = conv2d(x, w, groups=2, stride=[2, 2])",
    "input x: f32[1, 12, 9, 9]\ninput w: f32[12, 1, 3, 3]\noutput y = conv2d(x, w, groups=12)",
    "input x: f32[5, 300]\noutput y = softmax(x)",
    "input x: f16[9, 64]\noutput y = layer_norm(x)",
    "input x: f32[70, 33]\noutput y = softmax(x, axis=0)",
    "input x: f32[100, 10]\noutput y = sum(x, axes=1)",
    "input x: f32[40, 100]\noutput y = reduce_max(x, axes=0)",
    "input x: f32[40, 100]\noutput y = relu(matmul(full(0.5, shape=[50, 40]), x))",
    "input x: f32[3, 700]\noutput y = matmul(x, full(0.5, shape=[700, 37]))",
    "input x: f32[3, 50, 7]\noutput y = sum(x, axes=[0, 2])",
    "input x: f32[513]\noutput y = sum(x * x)",
    "input x: f32[65, 70]\noutput y = transpose(x) * 2",
    "input x: f32[3, 40, 50]\noutput y = transpose(x, axis0=1, axis1=2)",
    "input a: f32[1000]\ninput b: f32[1000]\noutput y = relu(a * b + a) * b",
    "input a: f16[7, 9]\noutput y = exp(a)",
    "input x: f32[30, 8]\ninput i: i32[20]\noutput y = gather(x, i)",
    "input x: f32[6, 20]\noutput y = cumsum(x, axis=1)",
    "input x: f32[6, 20]\na, b = sort(x, axis=1)\noutput y = a",
    "input x: f32[2, 3, 12, 12]\noutput y = max_pool(x, kernel=[3, 3], stride=[2, 2])",
    "input q: f32[2, 18, 16]\ninput k: f32[2, 18, 16]\ninput v: f32[2, 18, 24]\noutput y = attention(q, k, v, "
    "causal=true)",
    "input q: f32[4, 1, 32]\ninput k: f32[4, 40, 32]\ninput v: f32[4, 40, 32]\noutput y = attention(q, k, v)",
    "input x: f32[18, 16]\ninput g: f32[16, 24]\ninput u: f32[16, 24]\noutput y = silu(matmul(x, g)) * matmul(x, u)",
    "var n in [1, 40]\ninput x: f32[n, 16]\noutput y = matmul(x, transpose(x))",
    "var n in [1, 40]\ninput x: f32[n, 16]\noutput y = softmax(x)",
    "var n in [1, 40]\ninput x: f32[n]\noutput y = x * 2 + 1",
    "input x: f32[0, 16]\noutput y = softmax(x)",
    "input x: f32[1, 1]\noutput y = softmax(x)",
};

}  // namespace

TEST_CASE("Every class of kernels has a strategy of its own on a GPU") {
  for (const char* name : {"sm_80", "sm_90"}) {
    const Caps caps = capsFor(name);
    for (const ClassCase& each : kClasses) {
      INFO(name << ": " << each.text);
      Model model = modelOf(std::string(each.text) + "\n");
      Schedule schedule = scheduled(model);
      std::vector<std::string_view> strategies;
      for (Kernel& kernel : schedule.kernels) {
        const Choice choice = choose(*kernel.graph, kernel.sink, caps);
        strategies.push_back(choice.strategy);
        INFO(choice.strategy << ": " << toText(optsOf(choice)) << "; " << choice.why);
        CHECK_FALSE(choice.opts.empty());
      }
      std::string all;
      for (std::string_view s : strategies) all += std::string(s) + " ";
      INFO(all);
      CHECK(std::ranges::find(strategies, each.strategy) != strategies.end());
    }
  }
}

TEST_CASE("Kernels keep their values with what is chosen for GPUs") {
  GpuTarget small = testGpu();
  small.maxThreads = 64, small.sharedBytes = 32 << 10, small.coreLanes = 256;
  for (const Caps& caps : {capsFor("sm_80"), capsOf(small, Numerics::Contract), capsFor("sm_75")}) {
    for (const char* text : kSmall) {
      Model model = modelOf(std::string(text) + "\n");
      Schedule schedule = scheduled(model);
      for (Kernel& kernel : schedule.kernels) {
        Graph& g = *kernel.graph;
        const Choice choice = choose(g, kernel.sink, caps);
        INFO(caps.gpu.name << " " << text << "\n"
                           << choice.strategy << ": " << toText(optsOf(choice)) << "\n"
                           << toUopText(kernel.sink));
        auto tuned = applyOpts(g, kernel.sink, optsOf(choice), caps);
        REQUIRE(tuned);
        Result<LinearKernel> threads = loweredForGpu(g, *tuned, caps.gpu);
        if (!threads) FAIL(toText(threads.error()));
        std::vector<UOp> effects;
        for (UOp n : threads->ops)
          if (n.dtype() == DType::Void && n.ranges().empty()) effects.push_back(n);
        Status legal = verify(g.make(Op::Sink, DType::Void, effects), Stage::Linear);
        if (!legal) FAIL(toText(legal.error()));
        CHECK(sameBuffers(resultOf(kernel.sink), emulated(*threads, kernel.sink), 1e-3));
      }
    }
  }
}

TEST_CASE("Threads compute a sum once for many results that share it") {
  for (const char* text : {"input x: f32[96, 320]\noutput y = relu(matmul(full(0.5, shape=[512, 96]), x))",
                           "input x: f32[64, 4096]\noutput y = matmul(x, full(0.5, shape=[4096, 512]))"}) {
    const Caps caps = capsFor("sm_80");
    Model model = modelOf(std::string(text) + "\n");
    Schedule schedule = scheduled(model);
    REQUIRE(schedule.kernels.size() == 1);
    Graph& g = *schedule.kernels[0].graph;
    const Choice choice = choose(g, schedule.kernels[0].sink, caps);
    INFO(text << "\n" << choice.strategy << ": " << toText(optsOf(choice)));
    auto tuned = applyOpts(g, schedule.kernels[0].sink, optsOf(choice), caps);
    REQUIRE(tuned);
    const KernelFacts facts(*tuned);
    int64_t again = 1;  // workgroups with the same sums
    for (const Axis& a : facts.axes) {
      const auto sums = [&](UOp reduce) { return reduce.dependsOn(a.range); };
      if (axisType(a.range) == AxisType::Global && std::ranges::none_of(facts.reduces, sums))
        again *= maxExtent(a.range);
    }
    CHECK(again <= 512 / 8);
  }
}

TEST_CASE("What shares a sum fills half a warp or more, however long the sum is") {
  for (const char* text : {"input x: f32[1000]\ninput w: f32[4096]\noutput y = x * prod(w)",
                           "input x: f32[100, 100]\ninput w: f64[777]\noutput y = x * cast(sum(w), dtype=f32)",
                           "var n in [1, 5000]\ninput x: f32[1000]\ninput w: f32[n]\noutput y = x * sum(w)"}) {
    const Caps caps = capsOf(*findGpu("sm_80"), Numerics::Strict);
    Model model = modelOf(std::string(text) + "\n");
    Schedule schedule = scheduled(model);
    REQUIRE(schedule.kernels.size() == 1);
    const Choice choice = choose(*schedule.kernels[0].graph, schedule.kernels[0].sink, caps);
    INFO(text << "\n" << choice.strategy << ": " << toText(optsOf(choice)));
    auto tuned = applyOpts(*schedule.kernels[0].graph, schedule.kernels[0].sink, optsOf(choice), caps);
    REQUIRE(tuned);
    CHECK(workgroupThreads(*tuned) >= 16);
  }
}

TEST_CASE("Streaming operands waste no sector and shared copies no bank") {
  struct Case {
    const char* text;
    double sectors;  // at most, of what the elements would need
  };
  constexpr Case kCases[] = {
      {"input a: f16[256, 128]\ninput b: f16[128, 256]\noutput y = matmul(a, b)", 1},
      {"input a: f32[256, 128]\ninput b: f32[128, 256]\noutput y = matmul(a, b)", 1},
      {"input x: f32[64, 1024]\noutput y = softmax(x)", 1},
      {"input x: f32[64, 1024]\noutput y = layer_norm(x)", 1},
      {"input x: f32[64, 4096]\noutput y = sum(x, axes=1)", 1},
      {"input a: f32[65536]\ninput b: f32[65536]\noutput y = a * b + a", 1},
      {"input x: f32[256, 256]\noutput y = transpose(x)", 1},
  };
  const Caps caps = capsFor("sm_80");
  for (const Case& each : kCases) {
    Model model = modelOf(std::string(each.text) + "\n");
    Schedule schedule = scheduled(model);
    for (Kernel& kernel : schedule.kernels) {
      Graph& g = *kernel.graph;
      const Choice choice = choose(g, kernel.sink, caps);
      auto tuned = applyOpts(g, kernel.sink, optsOf(choice), caps);
      REQUIRE(tuned);
      Result<LinearKernel> threads = loweredForGpu(g, *tuned, caps.gpu);
      REQUIRE(threads);
      const bool isSquare = choice.strategy == "squares";  // single elements of a column: four rows share a bank
      for (const WarpTouch& a : warpTouches(threads->ops)) {
        // Results of tensor cores leave in pieces of 16 bytes, where they are f16.
        if (choice.strategy == "core-tiles" && a.isStore && !a.isShared) continue;
        INFO(each.text << "\n"
                       << choice.strategy << ": " << toText(optsOf(choice)) << "\n"
                       << toLineText(a.node) << ": " << a.count << " of " << a.least);
        CHECK(a.ratio() <= (a.isShared ? (isSquare ? 4 : 1) : each.sectors));
      }
    }
  }
}

TEST_CASE("What is expected of a kernel on a GPU lies above what all of its units could do") {
  const Caps caps = capsFor("sm_80");
  for (const auto& [text, work] : std::initializer_list<std::pair<const char*, Work>>{
           {"input a: f16[4096, 4096]\ninput b: f16[4096, 4096]\noutput y = matmul(a, b)",
            {2.0 * (1LL << 36), 3.0 * (1 << 25)}},
           {"input a: f32[1024, 1024]\ninput b: f32[1024, 1024]\noutput y = matmul(a, b)",
            {2.0 * (1 << 30), 3.0 * (1 << 22)}},
           {"input a: f32[16777216]\ninput b: f32[16777216]\noutput y = relu(a * b + a) * b",
            {4.0 * (1 << 24), 3.0 * (1 << 26)}}}) {
    Model model = modelOf(std::string(text) + "\n");
    Schedule schedule = scheduled(model);
    REQUIRE(schedule.kernels.size() == 1);
    Graph& g = *schedule.kernels[0].graph;
    auto tuned = applyOpts(g, schedule.kernels[0].sink, optsOf(choose(g, schedule.kernels[0].sink, caps)), caps);
    REQUIRE(tuned);
    const Prediction p = predict(*tuned, work, caps);
    INFO(text << ": " << p.expected << " of " << p.roofline);
    CHECK(p.roofline > 10e3);
    CHECK(p.expected >= p.roofline);
    CHECK(p.expected < 8 * p.roofline);
  }
}

TEST_CASE("Results of a scan that read the same elements can be sums of one thread") {
  const Caps caps = capsFor("sm_90a");
  Model model = modelOf("input x: f32[4096, 16384]\noutput y = cumsum(x, axis=1)\n");
  Schedule schedule = scheduled(model);
  Kernel& last = schedule.kernels.back();
  const std::vector<PricedSeed> seeds = seedsOf(*last.graph, last.sink, caps);
  const auto own = std::ranges::find(seeds, "own-sums", [](const PricedSeed& seed) { return seed.choice.strategy; });
  REQUIRE(own != seeds.end());
  CHECK_THAT(toText(optsOf(own->choice)), Catch::Contains("upcast(n1.i,8)"));
}

TEST_CASE("Products of few rows have copies of many steps under way, and tiles for most units") {
  struct Case {
    const char *text, *opt;
    int64_t groups;  // at least
  };
  constexpr Case kCases[] = {
      {"input a: bf16[197, 768]\ninput b: bf16[768, 768]\noutput y = matmul(a, b)", "bulk(p1.n0.i,8)", 48},
      {"input a: bf16[256, 1024]\ninput b: bf16[1024, 1024]\noutput y = matmul(a, b)", "bulk(p1.n0.i,8)", 64},
      {"input a: bf16[16, 4096]\ninput b: bf16[4096, 4096]\noutput y = matmul(a, b)", "tile(k0,256)", 128},
      {"input a: bf16[512, 4096]\ninput b: bf16[4096, 4096]\noutput y = matmul(a, b)", "bulk(p1.n0.i,6)", 128},
  };
  const Caps caps = capsFor("sm_90a");
  for (const auto& [text, opt, groups] : kCases) {
    Model model = modelOf(std::string(text) + "\n");
    Schedule schedule = scheduled(model);
    REQUIRE(schedule.kernels.size() == 1);
    Kernel& kernel = schedule.kernels[0];
    const Choice choice = choose(*kernel.graph, kernel.sink, caps);
    INFO(text << "\n" << toText(optsOf(choice)));
    CHECK_THAT(toText(optsOf(choice)), Catch::Contains(opt));
    auto tuned = applyOpts(*kernel.graph, kernel.sink, optsOf(choice), caps);
    REQUIRE(tuned);
    int64_t made = 1;
    for (const Axis& a : KernelFacts(*tuned).axes)
      if (axisType(a.range) == AxisType::Global) made *= maxExtent(a.range);
    CHECK(made >= groups);
  }
}

TEST_CASE("Banks and sectors are counted as the hardware serves them") {
  const auto at = [](auto address) {
    std::vector<int64_t> all;
    for (int64_t lane = 0; lane < 32; ++lane) all.push_back(address(lane));
    return all;
  };
  CHECK(wavefrontsOf(at([](int64_t l) { return 4 * l; }), 4) == 1);
  CHECK(wavefrontsOf(at([](int64_t l) { return 128 * l; }), 4) == 32);
  CHECK(wavefrontsOf(at([](int64_t) { return 64; }), 4) == 1);
  CHECK(wavefrontsOf(at([](int64_t l) { return 8 * l; }), 4) == 2);
  CHECK(wavefrontsOf(at([](int64_t l) { return 16 * l; }), 16) == 4);
  // Rows of matrices: 64 bytes apart they meet in 16 turns, 256 bytes apart in 32 (4 where they are swizzled).
  CHECK(wavefrontsOf(at([](int64_t l) { return 64 * l; }), 16) == 16);
  CHECK(wavefrontsOf(at([](int64_t l) { return 256 * l; }), 16) == 32);
  CHECK(wavefrontsOf(at([](int64_t l) { return 64 * l ^ (64 * l >> 7 & 3) << 4; }), 16) == 4);
  CHECK(sectorsOf(at([](int64_t l) { return 4 * l; }), 4) == 4);
  CHECK(sectorsOf(at([](int64_t l) { return 64 * l; }), 4) == 32);
  CHECK(sectorsOf(at([](int64_t l) { return 4 * l + 16; }), 4) == 5);
}

TEST_CASE("The tile of a product is what its limits allow") {
  for (std::string_view name : gpuNames()) {
    const GpuTarget gpu = *findGpu(name);
    for (const TensorCore* core : {static_cast<const TensorCore*>(nullptr), findTensorCore("m16n8k16-f16-f32")}) {
      if (core && gpu.generation < core->since) continue;
      for (const GpuProduct& p :
           {GpuProduct{1, 4096, 4096, 4096, core ? 2 : 4, core}, GpuProduct{1, 16, 4096, 4096, core ? 2 : 4, core},
            GpuProduct{12, 197, 197, 64, core ? 2 : 4, core}}) {
        const std::vector<GpuTile> tiles = tilesFor(p, gpu);
        REQUIRE_FALSE(tiles.empty());
        for (const GpuTile& t : tiles) {
          REQUIRE(t.sharedBytes(p) <= gpu.sharedBytes);
          REQUIRE(t.threads(p) <= gpu.maxThreads);
        }
        CHECK(cyclesOf(p, tiles.front(), gpu) <= cyclesOf(p, tiles.back(), gpu));
        INFO(name << " " << p.m << ": " << tiles[0].m << " x " << tiles[0].n << " x " << tiles[0].k);
        if (p.m == 4096) CHECK(tiles[0].m * tiles[0].n >= 64 * 64);
        if (p.m == 16) CHECK(tiles[0].m <= 32);
      }
    }
  }
}

TEST_CASE("What is expected of a kernel follows its bytes and its products") {
  const Caps caps = capsFor("sm_80");
  const auto time = [&](const char* text) {
    Model model = modelOf(std::string(text) + "\n");
    Schedule schedule = scheduled(model);
    double total = 0;
    for (Kernel& kernel : schedule.kernels) {
      auto tuned = applyOpts(*kernel.graph, kernel.sink, chooseOpts(*kernel.graph, kernel.sink, caps), caps);
      REQUIRE(tuned);
      total += gpuCostOf(KernelFacts(*tuned), caps).total;
    }
    return total;
  };
  // 128 MiB read and 128 MiB written at 2 TB/s take 0.13 ms; 2 * 4096^3 operations at 312 TFLOP/s take 0.44 ms.
  const double copy = time("input x: f32[33554432]\noutput y = x * 2");
  CHECK(copy > 60e3);
  CHECK(copy < 200e3);
  const double product = time(kClasses[0].text);
  CHECK(product > 400e3);
  CHECK(product < 3000e3);
  CHECK(time("input x: f32[1024]\noutput y = x * 2") < 6e3);
}
