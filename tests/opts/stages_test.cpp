// Copies that a workgroup shares: filled by all threads, ahead of the loop, and read without conflicts of banks.
#include <catch2/catch.hpp>
#include <random>

#include "cost/warp_touches.h"
#include "ir/gpu_op.h"
#include "ir/text.h"
#include "opts/tensor_core_kernels.h"
#include "opts/thread_checks.h"

using namespace svod;

namespace {

const TensorCore& core() { return *findTensorCore("m16n8k16-f16-f32"); }

/// Of the page docs/opts.md.
constexpr const char* kProductList =
    "tile(n0,64) tile(n1,64) order(n0.o,n1.o,n0.i,n1.i) tile(k0,32) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) "
    "swizzle(p1.n0.i,64) swizzle(p2.k0.i,128) async(p1.n0.i,3) async(p2.k0.i,3) spread(p1.n0.i,8) spread(p2.k0.i,8) "
    "tc(0,n0.i,n1.i,k0.i) local(n0.i,2) local(n1.i,2) upcast(n0.i,0) upcast(n1.i,0) unroll(k0.i,0) global(n0.o,n1.o)";

/// The same in tiles of a quarter, which are interpreted in less time.
constexpr const char* kSmallList =
    "tile(n0,32) tile(n1,32) order(n0.o,n1.o,n0.i,n1.i) tile(k0,32) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) "
    "swizzle(p1.n0.i,64) swizzle(p2.k0.i,64) async(p1.n0.i,3) async(p2.k0.i,3) spread(p1.n0.i,8) spread(p2.k0.i,8) "
    "tc(0,n0.i,n1.i,k0.i) local(n0.i,2) local(n1.i,2) upcast(n1.i,0) unroll(k0.i,0) global(n0.o,n1.o)";

UOp product(Graph& g, const Sizes& sizes) { return buildProduct(g, sizes, core()); }

std::string without(std::string list, std::string_view name) {
  for (size_t at; (at = list.find(name)) != std::string::npos;) list.erase(at, list.find(')', at) + 1 - at);
  return list;
}

}  // namespace

TEST_CASE("Copies are refused exactly where stages, periods of swizzles and rounds of threads do not fit") {
  const char* lists[] = {
      kProductList,
      kSmallList,
      "tile(n0,20) tile(k0,32) pack(1,n0.i,k0.i) swizzle(p1.n0.i,64) local(n0.i,0) global(n0.o)",  // 2.5 periods
      "tile(n0,20) tile(k0,32) pack(1,n0.i,k0.i) async(p1.n0.i,3) spread(p1.n0.i,8) local(n1,6) global(n0.o)",
  };
  for (const char* list : lists) {
    INFO(list);
    Caps caps = gpuCaps({&core()});
    Graph g;
    UOp sink = product(g, {66, 80, 96});
    caps.sharedBytes = unchecked(g, sink, list, caps).scratchBytes;
    CHECK(applyOpts(g, sink, *parseOpts(list), caps));
    caps.sharedBytes -= 1;
    CHECK_FALSE(applyOpts(g, sink, *parseOpts(list), caps));
  }
}

TEST_CASE("The list of docs/opts.md copies ahead, loads matrices and has no conflicts") {
  const Caps caps = gpuCaps({&core()});
  Graph g;
  const LinearKernel kernel = unchecked(g, product(g, {66, 80, 96}), kProductList, caps);
  // Per step of 32 terms: two tiles of rows and two pairs of columns, two halves of the terms.
  CHECK(countOf(kernel, "ldmatrix_x4") == 2 * 2);
  CHECK(countOf(kernel, "ldmatrix_x4_trans") == 2 * 2);
  CHECK(countOf(kernel, "ldmatrix_x2_trans") == 0);
  // Two stages before the loop and one in it; each of 64 x 32 elements, 8 by each of 128 threads.
  CHECK(countOf(kernel, "cp_async16") == 3 * (2 + 2));
  CHECK(countOf(kernel, "cp_commit") == 3);
  CHECK(countOf(kernel, "cp_wait") == 1);
  int barriers = 0;
  for (UOp n : kernel.ops) barriers += n.op() == Op::Barrier;
  CHECK(barriers == 1);
  int shared = 0;
  for (const WarpTouch& a : warpTouches(kernel.ops)) {
    INFO(toLineText(a.node) << ": " << a.count << " of " << a.least);
    CHECK(a.count == a.least);
    shared += a.isShared;
  }
  CHECK(shared >= 8 + 12);
}

TEST_CASE("Operands that are copied for the same step are met for once, and once when all have read them") {
  Graph g;
  const LinearKernel kernel =
      unchecked(g, product(g, {66, 80, 96}), without(kProductList, "async(").c_str(), gpuCaps({&core()}));
  int barriers = 0;
  for (UOp n : kernel.ops) barriers += n.op() == Op::Barrier;
  CHECK(barriers == 2);
}

TEST_CASE("Without a swizzle the same loads conflict") {
  Graph g;
  const LinearKernel kernel =
      unchecked(g, product(g, {66, 80, 96}), without(kProductList, "swizzle(").c_str(), gpuCaps({&core()}));
  int conflicts = 0;
  for (const WarpTouch& a : warpTouches(kernel.ops))
    conflicts += a.isShared && a.node.dtype() == DType::U32 && a.count >= 2 * a.least;
  CHECK(conflicts == 8);
}

TEST_CASE("What one thread would copy alone is dealt to all of them, as wide as the operand allows") {
  Graph g;
  const Caps caps = gpuCaps({&core()});
  const LinearKernel dealt = unchecked(g, product(g, {66, 80, 96}), kProductList, caps),
                     left = unchecked(g, product(g, {66, 80, 96}), without(kProductList, "spread(").c_str(), caps);
  CHECK(countOf(left, "cp_async16") == countOf(dealt, "cp_async16"));
  CHECK(left.ops.size() == dealt.ops.size());
}

TEST_CASE("Shared copies keep the value whatever the sizes and whichever opt is left out") {
  const Caps caps = gpuCaps({&core()});
  for (const char* left : {"", "swizzle(", "async(", "spread(", "async(p1", "unroll("})
    for (const Sizes& sizes : {Sizes{33, 40, 64}, Sizes{40, 34, 49}}) {
      if (sizes.k % 2 && *left) continue;  // terms that do not exist are masked whatever the copies are
      Graph g;
      INFO(sizes.m << " x " << sizes.n << " x " << sizes.k << " without " << left);
      UOp sink = product(g, sizes);
      const LinearKernel kernel = unchecked(g, sink, *left ? without(kSmallList, left).c_str() : kSmallList, caps);
      CHECK(sameBuffers(resultOf(sink), emulated(kernel, sink), 1e-4));
    }
}

TEST_CASE("Boxes that are copied in bulk keep the value whatever the sizes, the stages and the loops around them") {
  Caps caps = gpuCaps({&core()});
  caps.gpu = *findGpu("sm_90");
  std::mt19937 random(3);
  int bulk = 0, byThreads = 0;
  for (int i = 0; i < 12; ++i) {
    // Rows of A are multiples of 16 bytes; the columns of tiles are threads, or a loop around the ring.
    const Sizes sizes{32 + static_cast<int64_t>(random() % 20), 40 + 8 * static_cast<int64_t>(random() % 3),
                      64 + 16 * static_cast<int64_t>(random() % 4)};
    const auto stages = [&] { return std::to_string(2 + random() % 3); };
    std::string list = kSmallList;
    for (const char* ring : {"async(p1.n0.i,3)", "async(p2.k0.i,3)"}) {
      const bool isBulk = random() % 4 > 0;
      const std::string axis = std::string(ring).substr(6, 7), spread = "spread(" + axis + ",8) ";
      list.replace(list.find(ring), 16, (isBulk ? "bulk(" : "async(") + axis + "," + stages() + ")");
      if (isBulk) list.erase(list.find(spread), spread.size());
    }
    if (random() % 3 == 0) list.replace(list.find("global(n0.o,n1.o)"), 17, "global(n0.o)");
    Graph g;
    INFO(sizes.m << " x " << sizes.n << " x " << sizes.k << ": " << list);
    UOp sink = product(g, sizes);
    auto changed = applyOpts(g, sink, *parseOpts(list), caps);
    if (!changed) FAIL(toText(changed.error()));
    auto kernel = loweredForGpu(g, *changed, caps.gpu);
    if (!kernel) FAIL(toText(kernel.error()));
    bulk += countOf(*kernel, "bulk_load") > 0, byThreads += countOf(*kernel, "cp_async16") > 0;
    const bool hasLoopAround = list.find("global(n0.o)") != list.npos;  // in which B is another one each time: no ring
    CHECK((hasLoopAround || (countOf(*kernel, "bulk_load") > 0) == (list.find("bulk(") != list.npos)));
    CHECK(sameBuffers(resultOf(sink), emulated(*kernel, sink), 1e-4));
  }
  CHECK(bulk > 7);
  CHECK(byThreads > 2);
}

TEST_CASE("Results leave in vectors of whole lines, through memory of the workgroup, whatever the sizes") {
  const Caps caps = gpuCaps({&core()});
  for (const Sizes& sizes : {Sizes{33, 40, 64}, Sizes{40, 48, 49}, Sizes{70, 64, 96}}) {
    Graph g;
    INFO(sizes.m << " x " << sizes.n << " x " << sizes.k);
    UOp sink = product(g, sizes);
    const LinearKernel kernel = unchecked(g, sink, (std::string(kSmallList) + " stash(0)").c_str(), caps);
    CHECK(sameBuffers(resultOf(sink), emulated(kernel, sink), 1e-4));
    int stores = 0;
    for (const WarpTouch& a : warpTouches(kernel.ops)) {
      if (a.node.op() != Op::Store || a.isShared) continue;
      INFO(toLineText(a.node));
      CHECK(a.bytes == 16);
      CHECK(a.count == a.least);
      ++stores;
    }
    CHECK(stores == 32 * 32 / 4 / 128);
  }
}

TEST_CASE("Products of f32 by single lanes: both operands in shared copies, vectors of four") {
  const Caps caps = gpuCaps();
  Graph g;
  const LinearKernel kernel =
      checked(g, buildMatmul(g, {36, 72, 32}),
              "tile(n0,32) tile(n1,64) order(n0.o,n1.o,n0.i,n1.i) tile(k0,16) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) "
              "async(p1.n0.i,2) async(p2.k0.i,2) spread(p1.n0.i,4) spread(p2.k0.i,4) vector(n1.i,4) local(n0.i,8) "
              "local(n1.i,8) "
              "upcast(n0.i,0) upcast(n1.i,0) unroll(k0.i,4) global(n0.o,n1.o)",
              caps);
  int vectors = 0, scalars = 0;
  for (const WarpTouch& a : warpTouches(kernel.ops)) {
    INFO(toLineText(a.node));
    (a.bytes == 16 ? vectors : scalars) += 1;
    CHECK(a.count == a.least);
  }
  CHECK(vectors > 20);
  CHECK(scalars == 0);
}

TEST_CASE("Opts of shared copies that do not apply say why") {
  Graph g;
  const Caps caps = gpuCaps(), cpu = cpuCaps();
  UOp sink = buildMatmul(g, {64, 64, 64});
  const std::string packed = "tile(k0,16) pack(1,n0,k0.i) ";
  const auto error = [&](const std::string& opts, const Caps& on) { return errorOf(g, sink, opts.c_str(), on); };
  CHECK(error(packed + "spread(p1.n0,4)", cpu).find("no workgroups") != std::string::npos);
  CHECK(error(packed + "spread(p1.n0,3)", caps).find("4, 8 or 16 bytes") != std::string::npos);
  CHECK(error("tile(k0,16) pack(1,k0.i,n0) spread(p1.k0.i,4)", caps).find("not neighbours in memory") !=
        std::string::npos);
  CHECK(error(packed + "swizzle(p1.n0,128)", caps).find("rows of the buffer have 64 bytes") != std::string::npos);
  CHECK(error(packed + "swizzle(p1.n0,48)", caps).find("no swizzle has rows of 48") != std::string::npos);
  CHECK(error(packed + "async(p1.n0,9)", caps).find("2 to 8 stages") != std::string::npos);
  CHECK(error("pack(1,n0,k0) async(p1.n0,2)", caps).find("along 0 loops") != std::string::npos);
  CHECK(error(packed + "async(p1.n0,2) pack(1,p1.n0)", caps).find("no bare copy") != std::string::npos);
  Caps old = caps;
  old.gpu.generation = 75;
  CHECK(error(packed + "async(p1.n0,2)", old).find("sm_80") != std::string::npos);
  CHECK(error(packed + "bulk(p1.n0,2)", old).find("sm_90 and later") != std::string::npos);
  Caps later = caps;
  later.gpu.generation = 90;
  CHECK(applyOpts(g, sink, *parseOpts(packed + "bulk(p1.n0,2)"), later));
  CHECK(error(packed + "bulk(p1.n0,9)", later).find("2 to 8 stages") != std::string::npos);
  CHECK(error("pack(1,n0,k0) bulk(p1.n0,2)", later).find("along 0 loops") != std::string::npos);
  for (const char* noBox : {"tile(k0,16) pack(1,k0.i,n0) bulk(p1.k0.i,2)",                       // columns
                            "tile(k0,2) pack(1,n0,k0.i) bulk(p1.n0,2)",                          // rows of 8 bytes
                            "tile(n0,8) tile(k0,16) pack(1,n0.i,k0.i) bulk(p1.n0.i,2)",          // 512 bytes
                            "tile(k0,16) pack(2,k0.i,n1) swizzle(p2.k0.i,256) bulk(p2.k0.i,2)",  // long rows, swizzled
                            "tile(k0,16) pack(1,n0,k0.i) spread(p1.n0,4) bulk(p1.k0.i,2)"})
    CHECK(error(noBox, later) != "");
  CHECK(error(packed + "spread(p1.n0,4) spread(p1.n0,4)", caps).find("no loop p1.n0") != std::string::npos);
  CHECK(error("global(n0,n1) persist(n0,4)", caps).find("has 2 axes") != std::string::npos);
  CHECK(error("global(n0) persist(n0,64)", caps).find("nothing to do one after the other") != std::string::npos);
  CHECK(error("persist(n0,4)", caps).find("has type loop") != std::string::npos);
  CHECK(error("global(n0) persist(n0,5) local(n0,2)", caps).find("put persist behind") != std::string::npos);
  CHECK(error("stash(0)", cpu).find("no workgroups") != std::string::npos);
  CHECK(error("stash(0)", caps).find("no threads of a workgroup") != std::string::npos);
  CHECK(error("local(n0,8) stash(1)", caps).find("parameter 1 is not written") != std::string::npos);
  CHECK(error("local(n0,8) stash(0) stash(0)", caps).find("stashed already") != std::string::npos);
  CHECK(error("local(n0,8) stash(0) local(n1,8)", caps).find("and stash after it") != std::string::npos);
  Caps small = caps;
  small.sharedBytes = 64 * 64 * 4 - 1;
  CHECK(error("local(n0,0) upcast(n1,0) stash(0)", small).find("local buffers would take more") != std::string::npos);
  CHECK(error("tile(n0,8) global(n0.o,n1) raster(n0.o,n1,8)", caps).find("fewer rows") != std::string::npos);
  CHECK(error("pack(1,k0) spread(p1.k0,4) local(n0,4)", caps).find("pack all that the threads read") !=
        std::string::npos);
}
