#include <catch2/catch.hpp>

#include "choose/choose.h"
#include "choose/native.h"
#include "opts/kernels.h"
#include "opts/replay.h"

using namespace svod;

namespace {

// Runs the kernel with these opts on this machine and compares with the interpreted kernel without opts.
void requireSame(UOp (*build)(Graph&, const Sizes&), const Sizes& sizes, std::span<const OptOp> opts,
                 const Caps& caps) {
  Graph g;
  UOp sink = build(g, sizes);
  Buffers buffers = makeBuffers(sink);
  std::vector<void*> pointers;
  for (HostTensor& b : buffers) pointers.push_back(b.data.data());
  INFO(toText(opts));
  if (!opts.empty()) REQUIRE_FALSE(applyOpts(g, sink, opts, caps).value() == applyOpts(g, sink, {}, caps).value());
  compileNative(g, sink, opts, caps).run(pointers);
  REQUIRE(sameBuffers(resultOf(sink), buffers, caps.numerics == Numerics::Strict ? 0 : 1e-5));
}

/// A second level cache that panels of 384 rows are too tall for, which are four times as wide with AVX-512.
int64_t smallCache(const Caps& caps) { return caps.vectorBytes == 64 ? 128 << 10 : 32 << 10; }

}  // namespace

TEST_CASE("Hand-written lists of docs/opts.md compile and compute the same") {
  Caps caps = capsOf(nativeCpu(), Numerics::Contract);
  auto gemm = *parseOpts(
      "tile(1,32) order(1,0,2) pack(2,3,2) upcast(1,8) vector(2,16) upcast(2,0) vector(5,16) upcast(5,0) "
      "thread(0,1)");
  for (Sizes s : {Sizes{16, 64, 9}, Sizes{13, 45, 7}}) requireSame(buildMatmul, s, gemm, caps);
  auto softmax =
      *parseOpts("share(1,3) thread(0,1) vector(1,16) vector(2,16) vector(3,16) vector(4,16) acc(2,4) acc(3,4)");
  for (Sizes s : {Sizes{3, 64, 0}, Sizes{2, 70, 0}}) requireSame(buildSoftmax, s, softmax, caps);
}

TEST_CASE("Blocks and streams, preferred where caches are small, compute the same") {
  Caps caps = capsOf(nativeCpu(), Numerics::Contract);
  caps.l2Bytes = smallCache(caps), caps.l3Bytes = 1 << 10;
  auto chosen = [&](UOp (*build)(Graph&, const Sizes&), const Sizes& s) {  // what is preferred, whatever it costs
    Graph g;
    std::vector<OptOp> opts = optsOf(seedsOf(g, build(g, s), caps).front().choice);
    requireSame(build, s, opts, caps);
    return toText(opts);
  };
  for (Sizes s : {Sizes{64, 128, 384}, Sizes{1, 4096, 64}, Sizes{5, 2100, 72}})
    CHECK_THAT(chosen(buildMatmul, s), Catch::Contains("kblock"));
  CHECK_THAT(chosen(buildMatmul, {64, 128, 509}), !Catch::Contains("kblock"));  // no even blocks
  for (Sizes s : {Sizes{64, 64, 0}, Sizes{37, 45, 0}}) {
    CHECK_THAT(chosen(buildTranspose, s), Catch::Contains("stream(0)"));
    CHECK_THAT(chosen(buildAdd, s), Catch::Contains("stream(0)"));
    CHECK_THAT(chosen(buildAdd, s), !Catch::Contains("prefetch"));
  }
  caps.l1Bytes = 4800, caps.l2Bytes = 16 << 10;
  for (Sizes s : {Sizes{37, 70, 12}, Sizes{64, 64, 5}, Sizes{48, 72, 32}})
    CHECK_THAT(chosen(buildAttention, s), Catch::Contains("hold(") && Catch::Contains("kblock("));
}

TEST_CASE("Convolutions whose lanes are filters compute the same") {
  Caps caps = capsOf(nativeCpu(), Numerics::Contract);
  caps.constants = {2};
  for (auto build : {buildConv2d, buildConv2dStep2, buildDeepConv2d, buildDilatedConv2d})
    for (Sizes s : {Sizes{32, 7, 7}, Sizes{35, 14, 13}, Sizes{64, 9, 1}}) {
      Graph g;
      for (const auto& [choice, time] : seedsOf(g, build(g, s), caps))
        if (choice.strategy == "filter-lanes") requireSame(build, s, optsOf(choice), caps);
    }
}

TEST_CASE("Rows that lie across memory, turned where they do not stay in cache, compute the same") {
  Caps caps = capsOf(nativeCpu(), Numerics::Contract);
  caps.l1Bytes = 4 << 10;
  auto chosen = [&](int64_t l2Bytes, const Sizes& s) {  // what is preferred, whatever it costs
    caps.l2Bytes = l2Bytes;
    Graph g;
    std::vector<OptOp> opts = optsOf(seedsOf(g, buildMatmulAcross(g, s), caps).front().choice);
    requireSame(buildMatmulAcross, s, opts, caps);
    return toText(opts);
  };
  for (Sizes s : {Sizes{70, 256, 67}, Sizes{101, 259, 71}}) CHECK_THAT(chosen(32 << 10, s), Catch::Contains("pack(1,"));
  for (Sizes s : {Sizes{53, 192, 384}, Sizes{61, 259, 384}})
    CHECK_THAT(chosen(smallCache(caps), s),
               Catch::Contains("pack(1,") && Catch::Contains(caps.vectorBytes == 64 ? "kblock" : ""));
}

TEST_CASE("Prefetching, chosen where operands do not fit the second level cache, computes the same") {
  Caps caps = capsOf(nativeCpu(), Numerics::Contract);
  caps.l2Bytes = 4 << 10;
  for (auto build : {buildAdd, buildSoftmax, buildRowSum}) {
    Graph g;
    const Sizes sizes{37, 80, 0};
    std::vector<OptOp> opts = chooseOpts(g, build(g, sizes), caps);
    CHECK_THAT(toText(opts), Catch::Contains("prefetch(1,"));
    requireSame(build, sizes, opts, caps);
  }
}

TEST_CASE("What the heuristic chooses compiles and computes the same") {
  for (Numerics numerics : {Numerics::Strict, Numerics::Contract}) {
    Caps caps = capsOf(nativeCpu(), numerics);
    for (const TestKernel& kernel : testKernels()) {
      std::string_view name = kernel.name;
      if (name.starts_with("symbolic")) continue;  // needs values of variables
      if (numerics == Numerics::Strict && (name == "softmax" || name == "attention")) continue;
      for (Sizes s : {Sizes{33, 40, 5}, Sizes{32, 64, 8}}) {
        INFO(name);
        Graph g;
        requireSame(kernel.build, s, chooseOpts(g, kernel.build(g, s), caps), caps);
      }
    }
  }
}
