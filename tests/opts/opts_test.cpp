#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "e2e/seeds.h"
#include "ir/text.h"
#include "lower/expand.h"
#include "opts/opt_checks.h"
#include "opts/propose.h"
#include "symbolic/linear.h"

using namespace svod;

TEST_CASE("Axis numbers: outputs, then reduces, then fills; splits keep the others' numbers") {
  Graph g;
  UOp sink = buildMatmul(g, {8, 64, 6});
  CHECK(describeAxes(sink) == "0 loop 8, 1 loop 64, 2 reduce 6");
  CHECK(describeAxes(applied(g, sink, "upcast(0,4)")) == "0 loop 2, 1 loop 64, 2 reduce 6");
  CHECK(describeAxes(applied(g, sink, "vector(1,16) unroll(2,3)")) == "0 loop 8, 1 loop 4, 2 reduce 2");
  CHECK(describeAxes(applied(g, sink, "tile(1,32)")) == "0 loop 8, 1 loop 2, 2 loop 32, 3 reduce 6");
  CHECK(describeAxes(applied(g, sink, "tile(1,32) order(1,0,2)")) == "0 loop 2, 1 loop 8, 2 loop 32, 3 reduce 6");
  CHECK(describeAxes(applied(g, sink, "tile(1,32) pack(2,3,2)")) ==
        "0 loop 8, 1 loop 2, 2 loop 32, 3 reduce 6, 4 fill 6, 5 fill 32");
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
    CHECK(countOp(tuned, Op::Fill) == 1);
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
    CHECK(countOp(blocked, Op::Fill) == 1);
    CHECK(verifyText(blocked) == "");
    UOp packed = applied(g, sink,
                         "tile(2,4) tile(1,32) order(1,0,2) pack(2,4,2) upcast(1,4) vector(2,16) upcast(2,0) "
                         "vector(6,16) upcast(6,0) kblock(3,0,1)");
    CHECK(countOp(packed, Op::Fill) == 2);
    CHECK(verifyText(packed) == "");
  }
  UOp rows = applied(g, buildColumnSum(g, {12, 40, 0}), "vector(0,16) tile(1,4) kblock(1,0)");
  CHECK(countOp(rows, Op::Fill) == 1);
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
  CHECK(countOp(copied, Op::Fill) == 1);
  CHECK(describeAxes(applied(g, line, "window(1,1,2)")) == "0 loop 4, 1 loop 37, 2 reduce 5, 3 fill 41");
  UOp plane = buildConv2d(g, {4, 9, 12});
  CHECK(describeAxes(applied(g, plane, "tile(1,3) window(1,4,5,6,2,3)")) ==
        "0 loop 4, 1 loop 4, 2 loop 3, 3 loop 9, 4 reduce 2, 5 reduce 3, 6 reduce 3, 7 fill 2, 8 fill 5, 9 fill 11");
  applied(g, plane, "tile(1,4) order(1,0,2,3) window(1,4,5,6,2,3) vector(9,8) upcast(1,3) upcast(2,2) vector(3,8)");
  UOp across = applied(g, plane, "window(1,3,4,5,1,2) pitch(1,2,11) upcast(0,3) vector(1,8) upcast(1,4) thread(0,1)");
  for (UOp n : toposort(across))  // no gate on what the windows read
    if (n.op() == Op::Load && storageOf(n.src(0)).op() == Op::Fill) CHECK(n.srcCount() == 1);
  UOp column = buildColumnConv2d(g, {4, 9, 12});  // a line of the result reaches the address of the next tap's
  CHECK(describeAxes(applied(g, column, "window(1,3,4,1,2)")) ==
        "0 loop 4, 1 loop 12, 2 loop 9, 3 reduce 2, 4 reduce 3, 5 fill 2, 6 fill 14, 7 fill 9");
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
        "0 loop 4, 1 loop 12, 2 loop 9, 3 reduce 2, 4 reduce 3, 5 reduce 3, 6 fill 2, 7 fill 18, 8 fill 15");
  // Three lines share none with the taps above and below.
  CHECK(describeAxes(applied(g, plane, "tile(1,3) window(1,4,5,6,2,3)")) ==
        "0 loop 4, 1 loop 4, 2 loop 3, 3 loop 9, 4 reduce 2, 5 reduce 3, 6 reduce 3, 7 fill 2, 8 fill 3, 9 fill 3, "
        "10 fill 15");
  applied(g, plane, "tile(1,5) order(1,0,2,3) window(1,4,5,6,2,3) vector(9,8) upcast(1,3) upcast(2,2) vector(3,8)");
  applied(g, plane, "window(1,3,4,5,1,2) pitch(1,2,15) upcast(0,3) vector(1,8) upcast(1,4) thread(0,1)");
  CHECK(errorOf(g, buildDilatedConv2d(g, {4, 2, 2}), "window(1,3,4,5,1,2)").find("slide") != std::string::npos);
}

TEST_CASE("Windows that move in steps read neighbours of their copy") {
  Graph g;
  UOp padded = buildConv2dStep2(g, {4, 9, 12}), valid = buildConv2dStep2Valid(g, {4, 7, 6});
  CHECK(describeAxes(applied(g, padded, "window(1,3,4,5,1,2)")) ==
        "0 loop 4, 1 loop 12, 2 loop 9, 3 reduce 2, 4 reduce 3, 5 reduce 3, 6 fill 2, 7 fill 2, 8 fill 2, 9 fill 13, "
        "10 fill 10");
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

TEST_CASE("Of scalars side by side the last one prefetches, and one in each line before it") {
  const auto offsets = [](int64_t columns) {
    Graph g;
    const std::string opts = "vector(0,8) upcast(1," + std::to_string(columns) + ") prefetch(2,2,4800)";
    const UOp tuned = applied(g, buildMatmul(g, {16, 100, 6}), opts.c_str());
    const auto lowered = expand(g, tuned);
    REQUIRE(lowered);
    std::multiset<int64_t> found;  // of loads that prefetch
    for (UOp n : toposort(*lowered))
      if (n.op() == Op::Load && n.src(0).src(0).op() == Op::Prefetch) found.insert(linearOf(n.src(0).src(1)).constant);
    return found;
  };
  CHECK(offsets(4) == std::multiset<int64_t>{3});
  CHECK(offsets(10) == std::multiset<int64_t>{9});
  CHECK(offsets(20) == std::multiset<int64_t>{3, 19});
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
  CHECK(countOp(shared, Op::Fill) == 1);
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
  for (const char* text : {"stream(0)", "stream(0) vector(2,2)", "prefetch(2,1,64)"}) {
    INFO(text);
    CHECK(effects(text).find("no vectors pass") != std::string::npos);
  }
  for (const char* text : {"stream(0) vector(1,8)", "vector(1,8) prefetch(1,2,64)", "prefetch(2,1,64) vector(1,8)",
                           "pack(2,2,1) vector(1,8) prefetch(2,2,64)"}) {
    INFO(text);
    CHECK(effects(text) == "");
  }

  auto helpOf = [&](const char* text) {
    auto opts = parseOpts(text);
    if (!opts) return opts.error()->help;
    auto changed = applyOpts(g, matmul, *opts, cpuCaps());
    REQUIRE_FALSE(changed);
    return changed.error()->help;
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
