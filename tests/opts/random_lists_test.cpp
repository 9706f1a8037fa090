// Random lists of opts on random kernels: every opt is an error or keeps the value, whatever stands around it.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <ranges>
#include <set>

#include "e2e/seeds.h"
#include "ir/text.h"
#include "opts/opt_checks.h"
#include "opts/propose.h"

using namespace svod;

namespace {

/// As many from 0 on, or those that the environment asks for.
auto seeds(uint32_t count) {
  const auto first = static_cast<uint32_t>(numberFromEnvironment("SVOD_RANDOM_FIRST", 0));
  return std::views::iota(first, first + static_cast<uint32_t>(numberFromEnvironment("SVOD_RANDOM_COUNT", count)));
}

/// A move for the kernel as it is: every opt that has any is as likely as any other.
std::optional<OptOp> randomMove(std::mt19937& random, const NamedKernel& kernel, const Caps& caps) {
  const KernelFacts facts(kernel.sink);
  std::vector<const OptInfo*> rows;
  for (const OptInfo& row : allOpts()) rows.push_back(&row);
  std::ranges::shuffle(rows, random);
  for (const OptInfo* row : rows)
    if (std::vector<OptOp> moves = row->propose(facts, kernel.names, caps); !moves.empty())
      return moves[random() % moves.size()];
  return std::nullopt;
}

/// Opts of `list` that apply one after the other, and what they make of the kernel.
std::pair<NamedKernel, std::vector<OptOp>> whatApplies(Graph& g, UOp sink, std::span<const OptOp> list,
                                                       const Caps& caps) {
  NamedKernel kernel(sink);
  std::vector<OptOp> applied;
  bool noLocals = false;
  for (const OptOp& opt : list) {
    const bool isOfGroup = opt.kind == OptKind::Local || opt.kind == OptKind::Group || opt.kind == OptKind::GroupTop ||
                           opt.kind == OptKind::Tc;
    if (noLocals && isOfGroup) continue;
    auto changed = applyOpt(g, kernel, opt, caps);
    if (!changed) {
      INFO(toText(opt) << ": " << toText(changed.error()));
      REQUIRE(changed.error()->diag == Diag::BadOpt);
      continue;
    }
    kernel = std::move(changed->kernel);
    applied.push_back(std::move(changed->opt));
    noLocals |= opt.kind == OptKind::NoLocals;
  }
  return {std::move(kernel), std::move(applied)};
}

/// Some moves from a kernel on, and what they make of it.
std::pair<NamedKernel, std::vector<OptOp>> randomWalk(std::mt19937& random, Graph& g, NamedKernel kernel,
                                                      const Caps& caps, int steps) {
  std::vector<OptOp> list;
  bool noLocals = false;
  for (int step = 0; step < steps; ++step) {
    const std::optional<OptOp> move = randomMove(random, kernel, caps);
    const bool isOfGroup = move && (move->kind == OptKind::Local || move->kind == OptKind::Group ||
                                    move->kind == OptKind::GroupTop || move->kind == OptKind::Tc);
    if (!move || (noLocals && isOfGroup)) continue;
    auto changed = tryOpt(g, kernel, *move, caps);
    if (!changed) continue;
    noLocals |= move->kind == OptKind::NoLocals;
    kernel = std::move(changed->kernel), list.push_back(std::move(changed->opt));
  }
  return {std::move(kernel), std::move(list)};
}

}  // namespace

TEST_CASE("Every opt is an error or keeps the value, on random kernels and lists") {
  std::map<OptKind, int> worked, refused;
  for (uint32_t seed : seeds(3000)) {
    std::mt19937 random(seed);
    const TestKernel& kernel = testKernels()[seed % testKernels().size()];
    Sizes sizes{1 + static_cast<int64_t>(random() % 5), 1 + static_cast<int64_t>(random() % 6),
                1 + static_cast<int64_t>(random() % 5)};
    if (random() % 4 == 0) sizes.n = sizes.m;
    if (random() % 6 == 0) sizes.n = random() % 2 ? 8 : 16;  // rows of 32 and 64 bytes
    Caps caps = random() % 3 == 0 ? gpuCaps() : cpuCaps();
    caps.mixedDots = random() % 2, caps.likeDots = random() % 2;
    if (random() % 2) caps.numerics = Numerics::Fast;
    if (caps.workgroups && random() % 8 == 0)
      sizes.m = 4 + sizes.m, sizes.n = 8 * (1 + sizes.n % 2), sizes.k = 4 + sizes.k;
    Graph g;
    UOp original = kernel.build(g, sizes);
    NamedKernel changing(original);
    std::vector<OptOp> list;  // loops by name
    for (int step = 0; step < 7; ++step) {
      const std::optional<OptOp> move = randomMove(random, changing, caps);
      if (!move) break;
      const auto hasNumber = [](const AxisRef& axis) { REQUIRE_FALSE(axis.name.empty()); };
      forEachArg(move->args, [](auto) {}, hasNumber, [](auto) {});
      auto changed = applyOpt(g, changing, *move, caps);
      if (!changed) {
        INFO(toText(*move));
        REQUIRE(changed.error()->diag == Diag::BadOpt);
        ++refused[move->kind];
        continue;
      }
      changing = std::move(changed->kernel);
      ++worked[move->kind];
      list.push_back(std::move(changed->opt));
      std::set<std::string_view> names;
      for (const Axis& axis : axesOf(changing.sink)) names.insert(changing.names.nameOf(axis.range));
      INFO("seed " << seed << ": " << toText(list) << ": " << changing.names.describe(changing.sink));
      REQUIRE(names.count("") == 0);
      REQUIRE(names.size() == axesOf(changing.sink).size());
    }
    UOp sink = changing.sink;
    INFO("seed " << seed << " kernel " << kernel.name << " " << sizes.m << "x" << sizes.n << "x" << sizes.k << ": "
                 << toText(list) << "\n"
                 << toUopText(original) << "\n"
                 << toUopText(sink));
    auto replayed = applyOpts(g, original, *parseOpts(toText(list)), caps);
    if (replayed) {
      REQUIRE(verifyText(*replayed) == "");
      Buffers expected = resultOf(original);
      REQUIRE(sameBuffers(expected, resultOf(*replayed), kClose));
      REQUIRE(sameBuffers(
          expected, caps.workgroups ? emulated(threadsOf(g, *replayed), *replayed) : resultOf(lowered(g, *replayed)),
          kClose));
    } else {
      REQUIRE(replayed.error()->message.find("nolocals") != std::string::npos);
    }
  }
  int legal = 0, all = 0;
  for (const OptInfo& row : allOpts()) {
    if (row.kind == OptKind::Bulk) continue;  // its boxes are larger than these kernels (stages_test.cpp)
    INFO(row.name << ": " << worked[row.kind] << " worked, " << refused[row.kind] << " were refused");
    CHECK(worked[row.kind] > 2);
    CHECK(worked[row.kind] > refused[row.kind] / 4);
    legal += worked[row.kind], all += worked[row.kind] + refused[row.kind];
  }
  INFO(legal << " of " << all << " proposals were legal");
  CHECK(legal > all * 3 / 4);
}

TEST_CASE("Lists from which opts were taken out, and into which others were put, keep the value") {
  int shorter = 0;
  for (uint32_t seed : seeds(1500)) {
    std::mt19937 random(seed);
    const TestKernel& kernel = testKernels()[seed % testKernels().size()];
    Sizes sizes{1 + static_cast<int64_t>(random() % 5), 1 + static_cast<int64_t>(random() % 6),
                1 + static_cast<int64_t>(random() % 5)};
    Caps caps = random() % 3 == 0 ? gpuCaps() : cpuCaps();
    Graph g;
    UOp original = kernel.build(g, sizes);
    std::vector<OptOp> list = randomWalk(random, g, NamedKernel(original), caps, 6).second;
    if (list.size() < 2) continue;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(random() % list.size()));
    const size_t place = random() % (list.size() + 1);  // a move for the kernel as it is there
    const NamedKernel there = whatApplies(g, original, std::span(list).first(place), caps).first;
    const std::optional<OptOp> put = random() % 2 ? randomMove(random, there, caps) : std::nullopt;
    if (put) list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), *put);
    auto [changed, applied] = whatApplies(g, original, *parseOpts(toText(list)), caps);
    shorter += applied.size() < list.size();
    INFO("seed " << seed << " kernel " << kernel.name << " " << sizes.m << "x" << sizes.n << "x" << sizes.k << ": "
                 << toText(list) << ", of which apply " << toText(applied));
    REQUIRE(verifyText(changed.sink) == "");
    REQUIRE(sameBuffers(resultOf(original), resultOf(changed.sink), kClose));
    auto replayed = applyOpts(g, original, applied, caps);
    REQUIRE(replayed);
  }
  CHECK(shorter > 20);  // some opts need the one that is gone
}

TEST_CASE("Loops have names that stay when other opts come and go") {
  Graph g;
  UOp sink = buildMatmul(g, {8, 64, 6});
  auto described = [&](const char* text) {
    auto [kernel, applied] = whatApplies(g, sink, *parseOpts(text), cpuCaps());
    CHECK(applied.size() == parseOpts(text)->size());
    return toText(applied) + ": " + kernel.names.describe(kernel.sink);
  };
  CHECK(described("tile(1,32) order(1,0,2) pack(2,3,2) upcast(1,4) vector(2,16) thread(0,1)") ==
        "tile(n1,32) order(n1.o,n0,n1.i) pack(2,k0,n1.i) upcast(n0,4) vector(n1.i,16) thread(n1.o,1): "
        "0 n1.o thread 2, 1 n0 loop 2, 2 n1.i loop 2, 3 k0 reduce 6, 4 p2.k0 fill 6, 5 p2.n1.i fill 32");
  CHECK(described("tile(n1,32) tile(n1.i,8)") ==
        "tile(n1,32) tile(n1.i,8): 0 n0 loop 8, 1 n1.o loop 2, 2 n1.i.o loop 4, "
        "3 n1.i.i loop 8, 4 k0 reduce 6");
  CHECK(described("merge(n0,n1)") == "merge(n0,n1): 0 n0+n1 loop 512, 1 k0 reduce 6");
  CHECK(described("thread(1,16) thread(1,4)") ==
        "thread(n1,16) thread(n0,4): 0 n1.o+n0.o thread 8, 1 n0.i loop 4, 2 n1.i loop 16, 3 k0 reduce 6");
  CHECK(described("tile(k0,2) kblock(k0.o,n0,n1)") ==
        "tile(k0,2) kblock(k0.o,n0,n1): 0 n0 loop 8, 1 n1 loop 64, 2 k0.i reduce 2, 3 k0.o fill 3, 4 b.n0 fill 8, "
        "5 b.n1 fill 64");
  // Without the tile of n0, axis 2 would be another loop; n1 is still n1.
  CHECK(described("tile(n0,4) vector(n1,16)").ends_with("0 n0.o loop 2, 1 n0.i loop 4, 2 n1 loop 4, 3 k0 reduce 6"));
  CHECK(described("vector(n1,16)").ends_with("0 n0 loop 8, 1 n1 loop 4, 2 k0 reduce 6"));
  const std::string error = errorOf(g, sink, "vector(n1.i,16)");
  CHECK(error.find("there is no loop n1.i") != std::string::npos);
  CHECK(error.find("0 n0 loop 8, 1 n1 loop 64, 2 k0 reduce 6") != std::string::npos);
}
