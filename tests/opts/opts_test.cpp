#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "e2e/seeds.h"
#include "ir/text.h"
#include "opts/opt_checks.h"
#include "opts/propose.h"

using namespace svod;

TEST_CASE("Axis numbers: outputs, then reduces, then stages; splits keep the others' numbers") {
  Graph g;
  UOp sink = buildMatmul(g, {8, 64, 6});
  CHECK(describeAxes(sink) == "0 loop 8, 1 loop 64, 2 reduce 6");
  CHECK(describeAxes(applied(g, sink, "upcast(0,4)")) == "0 loop 2, 1 loop 64, 2 reduce 6");
  CHECK(describeAxes(applied(g, sink, "vector(1,16) unroll(2,3)")) == "0 loop 8, 1 loop 4, 2 reduce 2");
  CHECK(describeAxes(applied(g, sink, "tile(1,32)")) == "0 loop 8, 1 loop 2, 2 loop 32, 3 reduce 6");
  CHECK(describeAxes(applied(g, sink, "tile(1,32) order(1,0,2)")) == "0 loop 2, 1 loop 8, 2 loop 32, 3 reduce 6");
  CHECK(describeAxes(applied(g, sink, "tile(1,32) pack(2,3,2)")) ==
        "0 loop 8, 1 loop 2, 2 loop 32, 3 reduce 6, 4 stage 6, 5 stage 32");
  CHECK(describeAxes(applied(g, sink, "thread(1,16)")) == "0 thread 4, 1 loop 8, 2 loop 16, 3 reduce 6");
  CHECK(describeAxes(applied(g, sink, "thread(1,16) thread(1,4)")) == "0 thread 8, 1 loop 4, 2 loop 16, 3 reduce 6");
  CHECK(describeAxes(applied(g, sink, "merge(0,1)")) == "0 loop 512, 1 reduce 6");
}

TEST_CASE("The GEMM nest with a packed column panel is expressible") {
  Graph g;
  for (Sizes s : {Sizes{8, 64, 6}, Sizes{7, 35, 5}, Sizes{17, 33, 1}}) {
    UOp sink = buildMatmul(g, s);
    UOp tuned =
        applied(g, sink,
                "tile(1,32) order(1,0,2) pack(2,3,2) upcast(1,4) vector(2,16) upcast(2,0) vector(5,16) upcast(5,0) "
                "thread(0,1)");
    UOp end = tuned.src(0);
    CHECK(countOp(tuned, Op::Stage) == 1);
    CHECK(end.src(0).srcCount() == 2);  // remainders step back, no gate
    CHECK(axisType(end.src(1)) == AxisType::Thread);
    CHECK(verifyText(tuned) == "");
  }
}

TEST_CASE("A reduction in blocks keeps partial results in a buffer") {
  Graph g;
  for (Sizes s : {Sizes{8, 64, 12}, Sizes{7, 35, 10}, Sizes{17, 33, 5}}) {
    UOp sink = buildMatmul(g, s);
    UOp blocked = applied(g, sink, "tile(2,4) kblock(2,0,1)");
    CHECK(countOp(blocked, Op::Stage) == 1);
    CHECK(verifyText(blocked) == "");
    UOp packed = applied(g, sink,
                         "tile(2,4) tile(1,32) order(1,0,2) pack(2,4,2) upcast(1,4) vector(2,16) upcast(2,0) "
                         "vector(6,16) upcast(6,0) kblock(3,0,1)");
    CHECK(countOp(packed, Op::Stage) == 2);
    CHECK(verifyText(packed) == "");
  }
  UOp rows = applied(g, buildColumnSum(g, {12, 40, 0}), "vector(0,16) tile(1,4) kblock(1,0)");
  CHECK(countOp(rows, Op::Stage) == 1);
  Caps strict;
  strict.numerics = Numerics::Strict;
  UOp sink = buildMatmul(g, {8, 64, 12});
  CHECK(errorOf(g, sink, "tile(2,4) kblock(2,0)", strict).find("strict numerics") != std::string::npos);
  CHECK(errorOf(g, sink, "kblock(2)").find("at least one output axis") != std::string::npos);
  CHECK(errorOf(g, sink, "kblock(0,1)").find("is an output axis") != std::string::npos);
  CHECK(errorOf(g, sink, "tile(2,4) kblock(2,0,0)").find("named twice") != std::string::npos);
}

TEST_CASE("A kernel that may write over an operand computes no element twice") {
  Graph g;
  UOp sink = buildAdd(g, {1, 60, 0});
  Caps overwriting;
  overwriting.overwrites = true;
  CHECK(applied(g, sink, "vector(1,16)").src(0).src(0).srcCount() == 2);               // the last step starts earlier
  CHECK(applied(g, sink, "vector(1,16)", overwriting).src(0).src(0).srcCount() == 3);  // the last step is masked
}

TEST_CASE("What lies under windows is copied once") {
  Graph g;
  UOp line = buildConv1d(g, {4, 37, 5});
  UOp copied = applied(g, line, "window(1,1,2) vector(1,8) vector(3,8)");
  CHECK(countOp(copied, Op::Stage) == 1);
  CHECK(describeAxes(applied(g, line, "window(1,1,2)")) == "0 loop 4, 1 loop 37, 2 reduce 5, 3 stage 41");
  UOp plane = buildConv2d(g, {4, 9, 12});
  CHECK(describeAxes(applied(g, plane, "tile(1,3) window(1,4,5,6,2,3)")) ==
        "0 loop 4, 1 loop 4, 2 loop 3, 3 loop 9, 4 reduce 2, 5 reduce 3, 6 reduce 3, 7 stage 2, 8 stage 5, 9 stage 11");
  applied(g, plane, "tile(1,4) order(1,0,2,3) window(1,4,5,6,2,3) vector(9,8) upcast(1,3) upcast(2,2) vector(3,8)");
  UOp across = applied(g, plane, "window(1,3,4,5,1,2) pitch(1,2,11) upcast(0,3) vector(1,8) upcast(1,4) thread(0,1)");
  for (UOp n : toposort(across))  // no gate on what the windows read
    if (n.op() == Op::Load && storageOf(n.src(0)).op() == Op::Stage) CHECK(n.srcCount() == 1);
  UOp column = buildColumnConv2d(g, {4, 9, 12});  // a line of the result reaches the address of the next tap's
  CHECK(describeAxes(applied(g, column, "window(1,3,4,1,2)")) ==
        "0 loop 4, 1 loop 12, 2 loop 9, 3 reduce 2, 4 reduce 3, 5 stage 2, 6 stage 14, 7 stage 9");
  CHECK(errorOf(g, column, "window(1,4,2)").find("slide") != std::string::npos);
  CHECK(errorOf(g, plane, "pitch(1,2,8)").find("a pitch of 8 for lines of 9") != std::string::npos);
  CHECK(errorOf(g, plane, "pitch(1,0,9)").find("not directly inside") != std::string::npos);
  CHECK(errorOf(g, line, "window(1,1)").find("no two of these axes slide") != std::string::npos);
  CHECK(errorOf(g, line, "window(2,1,2)").find("at an address that depends on all of these axes") != std::string::npos);
  CHECK(errorOf(g, buildMatmul(g, {8, 8, 8}), "window(1,0,2)").find("slide") != std::string::npos);
}

TEST_CASE("Windows of taps that lie apart are copied once where they meet") {
  Graph g;
  UOp plane = buildDilatedConv2d(g, {4, 9, 12});
  CHECK(describeAxes(applied(g, plane, "window(1,3,4,5,1,2)")) ==
        "0 loop 4, 1 loop 12, 2 loop 9, 3 reduce 2, 4 reduce 3, 5 reduce 3, 6 stage 2, 7 stage 18, 8 stage 15");
  // Three lines share none with the taps above and below.
  CHECK(describeAxes(applied(g, plane, "tile(1,3) window(1,4,5,6,2,3)")) ==
        "0 loop 4, 1 loop 4, 2 loop 3, 3 loop 9, 4 reduce 2, 5 reduce 3, 6 reduce 3, 7 stage 2, 8 stage 3, 9 stage 3, "
        "10 stage 15");
  applied(g, plane, "tile(1,5) order(1,0,2,3) window(1,4,5,6,2,3) vector(9,8) upcast(1,3) upcast(2,2) vector(3,8)");
  applied(g, plane, "window(1,3,4,5,1,2) pitch(1,2,15) upcast(0,3) vector(1,8) upcast(1,4) thread(0,1)");
  CHECK(errorOf(g, buildDilatedConv2d(g, {4, 2, 2}), "window(1,3,4,5,1,2)").find("slide") != std::string::npos);
}

TEST_CASE("Windows that move in steps read neighbours of their copy") {
  Graph g;
  UOp padded = buildConv2dStep2(g, {4, 9, 12}), valid = buildConv2dStep2Valid(g, {4, 7, 6});
  CHECK(
      describeAxes(applied(g, padded, "window(1,3,4,5,1,2)")) ==
      "0 loop 4, 1 loop 12, 2 loop 9, 3 reduce 2, 4 reduce 3, 5 reduce 3, 6 stage 2, 7 stage 2, 8 stage 2, 9 stage 13, "
      "10 stage 10");
  applied(g, padded, "tile(1,5) order(1,0,2,3) window(1,4,5,6,2,3) vector(11,8) upcast(1,3) upcast(2,2) vector(3,8)");
  applied(g, padded, "window(1,3,4,5,1,2) pitch(1,2,10) vector(8,8) upcast(0,3) vector(1,8) upcast(1,4) thread(0,1)");
  applied(g, valid, "window(1,3,4,5,1,2)");
  applied(g, valid, "tile(1,4) order(1,0,2,3) window(1,4,5,6,2,3) vector(11,4) upcast(1,4) vector(3,4)");
  applied(g, valid, "window(1,3,4,5,1,2) pitch(1,2,7) upcast(0,2) vector(1,8) unroll(4,0)");
}

TEST_CASE("An operand is prefetched in one of the loops that read it") {
  Graph g;
  UOp sink = buildSoftmax(g, {4, 64, 0});  // column loops: 1 of the output, 2 and 3 of reductions
  UOp tuned = applied(g, sink, "vector(1,16) prefetch(1,1,128)");
  CHECK(verifyText(tuned) == "");
  int plain = 0, ahead = 0;
  for (UOp n : toposort(tuned)) {
    if (n.op() != Op::Load) continue;
    UOp storage = n.src(0).src(0);
    (storage.op() == Op::Param ? plain : ahead) += 1;
    if (storage.op() != Op::Param) CHECK((storage.op() == Op::Prefetch && storage.argAs<SlotArg>().slot == 128));
  }
  CHECK((plain == 2 && ahead == 1));
  CHECK(errorOf(g, sink, "prefetch(0,1,128)").find("parameter 0 is written") != std::string::npos);
  CHECK(errorOf(g, sink, "prefetch(2,1,128)").find("parameter 2 is not read along axis 1") != std::string::npos);
  CHECK(errorOf(g, sink, "prefetch(1,1,0)").find("one element ahead or more") != std::string::npos);
  CHECK(errorOf(g, tuned, "prefetch(1,1,64)").find("is prefetched already") != std::string::npos);
}

TEST_CASE("An output is streamed unless the kernel reads it") {
  Graph g;
  UOp sink = buildAdd(g, {4, 64, 0});
  UOp streamed = applied(g, sink, "vector(1,16) stream(0)");
  CHECK(toUopText(streamed).find("{0, stream}") != std::string::npos);
  CHECK(verifyText(streamed) == "");
  CHECK(errorOf(g, sink, "stream(1)").find("is read by the kernel") != std::string::npos);
  CHECK(errorOf(g, sink, "stream(7)").find("no parameter 7") != std::string::npos);
  CHECK(errorOf(g, sink, "stream(0) stream(0)").find("streamed already") != std::string::npos);
}

TEST_CASE("Softmax keeps its exponentials in a row-local buffer") {
  Graph g;
  UOp sink = buildSoftmax(g, {4, 37, 0});
  UOp shared = applied(g, sink, "share(1,3) thread(0,1) vector(1,8) vector(2,8) vector(3,8) vector(4,8) acc(2,4)");
  CHECK(countOp(sink, Op::Exp) == 2);
  CHECK(countOp(shared, Op::Exp) == 1);
  CHECK(countOp(shared, Op::Stage) == 1);
  CHECK(verifyText(shared) == "");
  CHECK(errorOf(g, sink, "share(0,3)").find("different extents") != std::string::npos);
  CHECK(errorOf(g, buildSoftmax(g, {5, 5, 0}), "share(0,3)").find("no value is computed along both") !=
        std::string::npos);
}

TEST_CASE("Loops of one iteration disappear") {
  Graph g;
  UOp sink = applied(g, buildMatmul(g, {4, 16, 4}), "vector(1,16) upcast(0,0) unroll(2,0)");
  CHECK(describeAxes(sink) == "none");
}

TEST_CASE("Opts that do not apply say why") {
  Graph g;
  UOp matmul = buildMatmul(g, {8, 64, 6}), serial = buildSerial(g, {4, 4, 4});
  auto says = [&](UOp sink, const char* text, const char* part, const Caps& caps = cpuCaps()) {
    std::string error = errorOf(g, sink, text, caps);
    INFO(error);
    CHECK(error.find(part) != std::string::npos);
    CHECK(error.find("axes: ") != std::string::npos);
  };
  says(matmul, "upcast(3,4)", "there is no axis 3");
  says(matmul, "upcast(2,2)", "axis 2 is a reduce axis");
  says(matmul, "unroll(0,2)", "axis 0 is an output axis");
  says(matmul, "upcast(0,9)", "the amount 9 is above the extent 8");
  says(matmul, "upcast(0,1)", "an amount of 1 splits nothing");
  says(matmul, "vector(1,24)", "24 lanes");
  says(matmul, "vector(1,8) vector(2,2)", "lanes along two axes");
  says(matmul, "vector(1,8) vector(0,2)", "already has a vector axis");
  says(matmul, "upcast(0,8) upcast(1,64) unroll(2,6)", "more than 512 copies");
  says(matmul, "order(0,2)", "do not belong to the same loop nests");
  says(matmul, "order(0,0)", "named twice");
  says(matmul, "merge(1,0)", "not directly inside");
  says(matmul, "pack(3,2)", "parameter 3 is not read");
  says(matmul, "pack(0,1)", "parameter 0 is written");
  says(matmul, "pack(2,0)", "parameter 2 is not read at an address");
  says(matmul, "vector(1,8) pack(2,2) upcast(1,2)", "once per copy of an expanded axis");
  says(matmul, "local(0,4)", "no workgroups");
  says(serial, "upcast(1,2)", "must run in order");
  says(matmul, "thread(0,8)", "one tile would hold the whole axis");
}

TEST_CASE("Opts that change nothing are errors, and every error says what to do") {
  Graph g;
  UOp matmul = buildMatmul(g, {8, 64, 6});
  for (const char* text : {"order(0,1)", "tile(0,8)", "tile(1,0)", "tile(1,16) order(1,2)"})
    CHECK(errorOf(g, matmul, text).find("changes nothing") != std::string::npos);
  applied(g, matmul, "nolocals");  // it speaks of what follows
  applied(g, matmul, "tile(1,16) order(1,0,2) order(1,0,2)");

  auto effects = [&](const char* text) {
    auto opts = parseOpts(text);
    Status status = checkEffects(applied(g, matmul, text), *opts);
    return status ? "" : toText(status.error());
  };
  for (const char* text : {"stream(0)", "stream(0) vector(2,2)", "prefetch(2,1,64)", "vector(1,8) prefetch(1,2,64)"}) {
    INFO(text);
    CHECK(effects(text).find("no vectors pass") != std::string::npos);
  }
  for (const char* text :
       {"stream(0) vector(1,8)", "prefetch(2,1,64) vector(1,8)", "pack(2,2,1) vector(1,8) prefetch(2,2,64)"}) {
    INFO(text);
    CHECK(effects(text) == "");
  }

  auto helpOf = [&](const char* text) {
    auto opts = parseOpts(text);
    if (!opts) return opts.error().help;
    auto changed = applyOpts(g, matmul, *opts, cpuCaps());
    REQUIRE_FALSE(changed);
    return changed.error().help;
  };
  CHECK(helpOf("order(0,0)").find("write order(axis,...)") == 0);
  CHECK(helpOf("vector(-1,2)").find("write vector(axis,lanes)") == 0);
  CHECK(helpOf("vector(1,2").find("write vector(axis,lanes)") == 0);
  CHECK(helpOf("padto(0,4)") == "leave it out");
  CHECK(helpOf("padto(0,99)") == "use smaller multiples");
  CHECK(helpOf("window(7,0,2)").find("window(slot,axis,...) takes") == 0);
  CHECK(helpOf("pack(7,0,2)").find("pack(slot,axis,...) takes") == 0);
}

TEST_CASE("Strict numerics keep the order of float reductions") {
  Graph g;
  Caps strict = cpuCaps();
  strict.numerics = Numerics::Strict;
  UOp sum = buildRowSum(g, {4, 32, 0}), full = buildFullMax(g, {4, 8, 0});
  for (const char* text : {"vector(1,8)", "acc(1,4)"})
    CHECK(errorOf(g, sum, text, strict).find("strict numerics") != std::string::npos);
  for (const char* text : {"order(1,0)", "unroll(0,2)"})
    CHECK(errorOf(g, full, text, strict).find("strict numerics") != std::string::npos);
  applied(g, sum, "unroll(1,8) thread(0,1)", strict);
  applied(g, full, "unroll(1,4) merge(0,1)", strict);
}

TEST_CASE("A limit on scratch bounds what pack may copy") {
  Graph g;
  Caps caps = cpuCaps();
  caps.scratchBytes = 6 * 32 * 4;
  UOp sink = buildMatmul(g, {8, 64, 6});
  applied(g, sink, "tile(1,32) pack(2,3,2)", caps);
  CHECK(errorOf(g, sink, "pack(2,2,1)", caps).find("more than 768 bytes") != std::string::npos);
}

namespace {

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
      REQUIRE(changed.error().diag == Diag::BadOpt);
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

TEST_CASE("What only the inner loop of a pitch moves is not read between lines") {
  Graph g;
  UOp sink = buildMatmul(g, {4, 4, 2});
  auto tuned = applyOpts(g, sink, *parseOpts("vector(1,4) pitch(0,1,2)"), cpuCaps());
  REQUIRE(tuned);
  CHECK(verifyText(*tuned) == "");
  CHECK(sameBuffers(resultOf(sink), resultOf(*tuned), kClose));
}

TEST_CASE("Lanes of which all but the first are masked store at an address each") {
  Graph g;
  UOp sink = buildMatmul(g, {6, 1, 3});
  auto tuned = applyOpts(g, sink, *parseOpts("tile(0,2) merge(0,1) vector(1,4)"), cpuCaps());
  REQUIRE(tuned);
  UOp code = lowered(g, *tuned);
  if (Status status = verify(code, Stage::Lowered); !status) FAIL(toText(status.error()));
  CHECK(sameBuffers(resultOf(sink), resultOf(code), kClose));
}

TEST_CASE("Every opt is an error or keeps the value, on random kernels and lists") {
  std::map<OptKind, int> worked, refused;
  for (uint32_t seed = 0; seed < numberFromEnvironment("SVOD_RANDOM_COUNT", 2000); ++seed) {
    std::mt19937 random(seed);
    const TestKernel& kernel = testKernels()[seed % testKernels().size()];
    Sizes sizes{1 + static_cast<int64_t>(random() % 5), 1 + static_cast<int64_t>(random() % 6),
                1 + static_cast<int64_t>(random() % 5)};
    if (random() % 4 == 0) sizes.n = sizes.m;
    Caps caps = random() % 3 == 0 ? gpuCaps() : cpuCaps();
    caps.mixedDots = random() % 2, caps.likeDots = random() % 2;
    if (random() % 2) caps.numerics = Numerics::Fast;
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
        REQUIRE(changed.error().diag == Diag::BadOpt);
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
      REQUIRE(replayed.error().message.find("nolocals") != std::string::npos);
    }
  }
  int legal = 0, all = 0;
  for (const OptInfo& row : allOpts()) {
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
  for (uint32_t seed = 0; seed < numberFromEnvironment("SVOD_RANDOM_COUNT", 1500); ++seed) {
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
        "0 n1.o thread 2, 1 n0 loop 2, 2 n1.i loop 2, 3 k0 reduce 6, 4 p2.k0 stage 6, 5 p2.n1.i stage 32");
  CHECK(described("tile(n1,32) tile(n1.i,8)") ==
        "tile(n1,32) tile(n1.i,8): 0 n0 loop 8, 1 n1.o loop 2, 2 n1.i.o loop 4, "
        "3 n1.i.i loop 8, 4 k0 reduce 6");
  CHECK(described("merge(n0,n1)") == "merge(n0,n1): 0 n0+n1 loop 512, 1 k0 reduce 6");
  CHECK(described("thread(1,16) thread(1,4)") ==
        "thread(n1,16) thread(n0,4): 0 n1.o+n0.o thread 8, 1 n0.i loop 4, 2 n1.i loop 16, 3 k0 reduce 6");
  CHECK(described("tile(k0,2) kblock(k0.o,n0,n1)") ==
        "tile(k0,2) kblock(k0.o,n0,n1): 0 n0 loop 8, 1 n1 loop 64, 2 k0.i reduce 2, 3 k0.o stage 3, 4 b.n0 stage 8, "
        "5 b.n1 stage 64");
  // Without the tile of n0, axis 2 would be another loop; n1 is still n1.
  CHECK(described("tile(n0,4) vector(n1,16)").ends_with("0 n0.o loop 2, 1 n0.i loop 4, 2 n1 loop 4, 3 k0 reduce 6"));
  CHECK(described("vector(n1,16)").ends_with("0 n0 loop 8, 1 n1 loop 4, 2 k0 reduce 6"));
  const std::string error = errorOf(g, sink, "vector(n1.i,16)");
  CHECK(error.find("there is no loop n1.i") != std::string::npos);
  CHECK(error.find("0 n0 loop 8, 1 n1 loop 64, 2 k0 reduce 6") != std::string::npos);
}
