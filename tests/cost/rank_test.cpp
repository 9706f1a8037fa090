// Kernels under random lists of opts: what the cost model expects of each beside the time it takes here. Only run by
// benchmarks/predictions.py --rank, which asks for [.measure] and computes rank correlations from the lines printed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "choose/choose.h"
#include "choose/native.h"
#include "cost/kernel_cost.h"
#include "opts/kernels.h"
#include "opts/loop_names.h"
#include "opts/replay.h"

using namespace svod;

namespace {

struct Row {
  const char* name;
  UOp (*build)(Graph&, const Sizes&);
  Sizes sizes;
};
constexpr Row kRows[] = {
    {"matmul 96x96x96", buildMatmul, {96, 96, 96}},
    {"matmul 64x512x128", buildMatmul, {64, 512, 128}},
    {"matmul 200x56x300", buildMatmul, {200, 56, 300}},
    {"matmul across 64x192x128", buildMatmulAcross, {64, 192, 128}},
    {"pointwise conv 64x49x64", buildPointwise, {64, 49, 64}},
    {"groups 48x64x96", buildGroups, {48, 64, 96}},
    {"matvec 1024x512", buildMatvec, {1, 1024, 512}},
    {"bf16 matmul 48x64x96", buildBf16<false>, {48, 64, 96}},
    {"softmax 128x200", buildSoftmax, {128, 200, 0}},
    {"softmax 64x1024", buildSoftmax, {64, 1024, 0}},
    {"attention 64x96x32", buildAttention, {64, 96, 32}},
    {"add 256x512", buildAdd, {256, 512, 0}},
    {"transpose 300x260", buildTranspose, {300, 260, 0}},
    {"transpose 256x256", buildTranspose, {256, 256, 0}},
    {"row sum 256x300", buildRowSum, {256, 300, 0}},
    {"column sum 300x256", buildColumnSum, {300, 256, 0}},
    {"full max 300x300", buildFullMax, {300, 300, 0}},
    {"conv1d 32x2000x9", buildConv1d, {32, 2000, 9}},
    {"conv2d 3x3 16-24@28", buildDeepConv2d, {24, 28, 28}},
    {"conv2d 3x3 2-32@28, step 2", buildConv2dStep2, {32, 28, 28}},
};

/// A move that could make sense for some kernel: amounts are those that vectors, registers and caches suggest.
OptOp randomMove(std::mt19937& random, int32_t axes) {
  const auto pick = [&](auto... values) {
    const int64_t all[] = {values...};
    return all[random() % std::size(all)];
  };
  const auto axis = [&] { return static_cast<int32_t>(random() % static_cast<uint32_t>(axes)); };
  switch (random() % 10) {
    case 0:
    case 1: return {OptKind::Vector, AxisAmount{axis(), pick(4, 8, 16, 16, 16)}};
    case 2:
    case 3: return {OptKind::Upcast, AxisAmount{axis(), pick(2, 3, 4, 6, 8, 12, 16)}};
    case 4: return {OptKind::Unroll, AxisAmount{axis(), pick(2, 4, 8)}};
    case 5: return {OptKind::Acc, AxisAmount{axis(), pick(2, 4, 8)}};
    case 6:
    case 7: return {OptKind::Tile, AxisAmount{axis(), pick(8, 16, 32, 48, 64)}};
    case 8: return {OptKind::Pack, PackArgs{static_cast<uint32_t>(pick(1, 2)), {axis(), axis()}}};
    default: return {OptKind::Order, AxisList{{axis(), axis()}}};
  }
}

/// Some random moves that apply, from nothing or from a part of the chosen list.
std::vector<OptOp> randomList(Graph& g, UOp sink, const std::vector<OptOp>& chosen, std::mt19937& random,
                              const Caps& caps) {
  NamedKernel kernel(sink);
  std::vector<OptOp> applied;
  const auto apply = [&](const OptOp& opt) {
    auto changed = applyOpt(g, kernel, opt, caps);
    if (changed) kernel = std::move(changed->kernel), applied.push_back(std::move(changed->opt));
  };
  const size_t kept = random() % 2 ? random() % (chosen.size() + 1) : 0;
  for (size_t i = 0; i < kept; ++i) apply(chosen[i]);
  for (uint32_t moves = 1 + random() % 6; moves > 0; --moves)
    if (const auto axes = static_cast<int32_t>(axesOf(kernel.sink).size()); axes > 0) apply(randomMove(random, axes));
  return applied;
}

double nanosecondsOfRun(NativeKernel& kernel, const std::vector<void*>& buffers) {
  using Clock = std::chrono::steady_clock;
  const auto timed = [&](int runs) {
    const auto start = Clock::now();
    for (int i = 0; i < runs; ++i) kernel.run(buffers);
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / runs;
  };
  constexpr double kBatch = 3e5;
  const double first = std::min(timed(1), timed(1));
  const int runs = std::max(1, static_cast<int>(kBatch / std::max(first, 100.0)));
  double best = first;
  for (int i = 0; i < 4; ++i) best = std::min(best, timed(runs));
  return best;
}

std::string wordOf(const char* variable, const char* otherwise) {
  const char* text = std::getenv(variable);
  return text ? text : otherwise;
}

void measure(const Row& row, int lists) {
  const Caps caps = capsOf(nativeCpu(), Numerics::Contract);
  Graph g;
  UOp sink = row.build(g, row.sizes);
  Buffers buffers = makeBuffers(sink);
  std::vector<void*> pointers;
  for (HostTensor& b : buffers) pointers.push_back(b.data.data());
  const std::vector<OptOp> chosen = chooseOpts(g, sink, caps);
  for (int seed = 0; seed < lists; ++seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    const std::vector<OptOp> list = randomList(g, sink, chosen, random, caps);
    const double predicted = costOf(KernelFacts(*applyOpts(g, sink, list, caps)), caps).total;
    NativeKernel kernel = compileNative(g, sink, list, caps);
    std::printf(R"({"kernel": "%s", "opts": "%s", "predicted": %.0f, "measured": %.0f})"
                "\n",
                row.name, toText(list).c_str(), predicted, nanosecondsOfRun(kernel, pointers));
    std::fflush(stdout);
  }
}

}  // namespace

TEST_CASE("Random lists of opts, predicted and measured", "[.measure]") {
  const std::string only = wordOf("SVOD_RANK_ONLY", "");
  for (const Row& row : kRows)
    if (std::string_view(row.name).find(only) != std::string_view::npos)
      measure(row, std::atoi(wordOf("SVOD_RANK_LISTS", "300").c_str()));
}
