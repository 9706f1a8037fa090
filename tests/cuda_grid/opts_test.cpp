// Opts of GPUs as text of CUDA and as results: axes of the grid and of workgroups, shared reductions, vectors, tensor
// cores, copies that a workgroup shares.
#include "cuda_grid/planted.h"

using namespace svod;

namespace {

struct Example {
  std::string graph, opts;
  std::vector<const char*> says;        // what the text of the kernel holds
  std::vector<const char*> never = {};  // and what it does not
};

const std::string kHalves =
    "input a: f16[32, 32]\ninput b: f16[32, 16]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))\n";
const std::string kRagged =
    "input a: f16[66, 96]\ninput b: f16[96, 80]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))\n";
const std::string kTiles =
    "tile(n0,32) tile(n1,32) order(n0.o,n1.o,n0.i,n1.i) tile(k0,32) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) ";
const std::string kOneTile = "tc(0,n0.i,n1.i,k0.i) local(n0.i,2) local(n1.i,2) upcast(n1.i,0) unroll(k0.i,0) ",
                  kCores = kOneTile + "global(n0.o,n1.o)", kCoresOfRows = kOneTile + "global(n0.o)";
const std::string kSpread = "spread(p1.n0.i,8) spread(p2.k0.i,8) ",
                  kSwizzle = "swizzle(p1.n0.i,64) swizzle(p2.k0.i,64) ", kAsync = "async(p1.n0.i,3) async(p2.k0.i,3) ";

const Example kExamples[] = {
    {"input x: f32[12, 20]\noutput y = x * x\n",
     "global(0,1) local(1,4)",
     {"svod_gidx0()", "svod_gidx1()", "svod_lidx0()"}},
    {"input x: f32[6, 64]\noutput y = sum(x, axes=[1])\n",
     "global(0) group(1,16)",
     {"svod_lidx0()", "svod_shuffle_xor_f32("},
     {"svod_barrier()"}},
    {"input x: f32[6, 64]\noutput y = any(x > 1.5, axes=[1])\n", "global(0) group(1,16)", {"svod_shuffle_xor_bool("}},
    {"input x: f32[6, 192]\noutput y = sum(x, axes=[1])\n",
     "global(0) group(1,64)",
     {"svod_shuffle_xor_f32(", "SVOD_SHARED", "svod_barrier()"}},
    {"input x: f32[6, 96]\noutput y = sum(x, axes=[1])\n",
     "global(0) group(1,24)",
     {"SVOD_SHARED", "svod_barrier()"},
     {"svod_shuffle"}},
    {"input x: f32[8, 64]\noutput y = x * 2 + 1\n", "vector(1,4) global(0)", {"svod_load_f32x4(", "svod_store_f32x4("}},
    {"input x: f16[8, 64]\noutput y = x * x\n",
     "vector(1,8) global(0)",
     {"svod_load_u16x8(", "svod_store_u16x8(", "svod_f16_f32("}},
    {"input x: f32[8, 63]\noutput y = x * 2 + 1\n", "vector(1,4) global(0)", {"svod_load_f32("}},  // rows not aligned
    {kHalves, "tc(3,0,1,2)", {"svod_m16n8k8_f16_f32("}},
    {kHalves, "tc(0,0,1,2)", {"svod_m16n8k16_f16_f32("}},
    {"input a: bf16[32, 32]\ninput b: bf16[32, 16]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))\n",
     "tc(1,0,1,2)",
     {"svod_m16n8k16_bf16_f32("}},
    {kRagged,
     kTiles + kSpread + kCores,
     {"svod_shared_store_u16x8(", "svod_ldmatrix_x4(", "svod_ldmatrix_x4_trans(", "svod_barrier()"},
     {"svod_cp_", " ^ "}},
    {kRagged, kTiles + kSwizzle + kSpread + kCores, {"svod_shared_store_u16x8(", "svod_ldmatrix_x4(", " ^ "}},
    {kRagged,
     kTiles + kSwizzle + kAsync + kSpread + kCores,
     {"svod_cp_async16(", "svod_cp_commit()", "svod_cp_wait(1)", "svod_ldmatrix_x4(", " ^ "}},
    {"input a: f16[66, 88]\ninput b: f16[88, 80]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))\n",
     kTiles + kSwizzle + kAsync + kSpread + kCores,  // zeros in place of terms that are not there
     {"svod_cp_async16(", "svod_ldmatrix_x4(", "svod_ldmatrix_x4_trans("},
     {"svod_shared_load_"}},
    {kRagged,  // two slices of the terms, whose sums are added up
     kTiles + kSwizzle + kAsync + kSpread +
         "tc(0,n0.i,n1.i,k0.i) upcast(n1.i,2) local(n1.i,2) group(k0.i,2) upcast(n0.i,2) global(n0.o,n1.o)",
     {"svod_cp_async16(", "svod_ldmatrix_x4(", "svod_shared_store_f32(", "svod_shared_load_f32("}},
    {"input a: f16[66, 96]\ninput b: f16[96, 80]\noutput y = matmul(a, b)\n",  // lanes exchange words of sectors
     kTiles + kSpread +
         "tc(0,n0.i,n1.i,k0.i) upcast(n1.i,2) local(n0.i,2) local(n1.i,2) unroll(k0.i,0) global(n0.o,n1.o)",
     {"svod_shuffle_xor_u32(", "svod_store_u16x2("}},
    {kRagged,  // a loop over tiles starts the ring anew
     "tile(n0,32) tile(n1,32) order(n0.o,n1.o,n0.i,n1.i) tile(k0,32) pack(1,n0.i,k0.i) async(p1.n0.i,4) "
     "spread(p1.n0.i,8) " +
         kCoresOfRows,
     {"svod_cp_async16(", "svod_cp_wait(2)", "svod_cp_wait(0)"},
     {"svod_gidx1()"}},
    {kRagged,
     kTiles + kSwizzle + kAsync + kSpread + kCores + " raster(n0.o,n1.o,2)",
     {"svod_cp_async16(", "svod_ldmatrix_x4_trans(", "svod_gidx0()"},
     {"svod_gidx1()"}},
    {"input a: f32[36, 32]\ninput b: f32[32, 72]\noutput y = matmul(a, b)\n",
     "tile(n0,32) tile(n1,64) order(n0.o,n1.o,n0.i,n1.i) tile(k0,16) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) "
     "async(p1.n0.i,2) async(p2.k0.i,2) spread(p1.n0.i,4) spread(p2.k0.i,2) vector(n1.i,4) local(n0.i,8) "
     "local(n1.i,8) upcast(n0.i,0) upcast(n1.i,0) unroll(k0.i,4) global(n0.o,n1.o)",
     {"svod_cp_async16(", "svod_cp_async8(", "svod_cp_wait(0)", "svod_shared_load_f32x4("}},
    {"input a: f32[9, 64]\ninput b: f32[64, 8]\noutput y = matmul(a, b)\n",
     "tile(k0,16) pack(2,k0.i,n1) async(p2.k0.i,4) spread(p2.k0.i,1) local(n0,3) upcast(n1,0) global(n0)",
     {"svod_cp_async4(", "svod_cp_wait(2)"}},
    {kRagged,
     kTiles + kSwizzle + kAsync + kSpread + kCores + " stash(0)",
     {"svod_shared_store_f32x2(", "svod_shared_load_f32x4(", "svod_store_f32x4("},
     {"svod_store_f32x2("}},
    {"input a: f16[66, 96]\ninput b: f16[96, 80]\ninput c: f16[80]\noutput y = relu(matmul(a, b) + c)\n",
     kTiles + kSwizzle + kAsync + kSpread + kCores + " stash(0)",
     {"svod_shared_store_u16x2(", "svod_shared_load_u16x8(", "svod_store_u16x8("},
     {"svod_store_u16x2(", "svod_shuffle"}},
    {"input a: bf16[2, 70, 64]\ninput b: bf16[2, 64, 72]\noutput y = matmul(a, b) * 0.5\n",  // one warp
     "tile(n1,32) tile(n2,32) order(n0,n1.o,n2.o,n1.i,n2.i) tile(k0,32) pack(1,n1.i,k0.i) spread(p1.n1.i,8) "
     "tc(1,n1.i,n2.i,k0.i) upcast(n1.i,0) upcast(n2.i,0) unroll(k0.i,0) stash(0) global(n0,n1.o,n2.o)",
     {"svod_shared_store_u16x2(", "svod_store_u16x8("}},
    {"input x: f32[40, 48]\noutput y = transpose(x) * 2\n",  // threads read along lines, and write along lines
     "tile(n0,16) tile(n1,16) order(n0.o,n1.o,n0.i,n1.i) upcast(n1.i,4) local(n1.i,0) local(n0.i,0) global(n0.o,n1.o) "
     "stash(0)",
     {"svod_shared_load_f32x4(", "svod_store_f32x4(", "svod_barrier()"},
     {"svod_store_f32("}},
    {"input x: f32[40, 64]\noutput y = x * 2 + 1\n",
     "vector(n1,4) local(n1,0) global(n0) persist(n0,3)",
     {"for (", "svod_load_f32x4("}},
    {"input x: f32[7, 192]\noutput y = sum(x, axes=[1])\n",
     "global(0) group(1,64) persist(0,2)",
     {"for (", "svod_barrier()"}},
    {kRagged,  // the ring starts anew for every tile
     kTiles + kSwizzle + "async(p1.n0.i,4) async(p2.k0.i,4) " + kSpread + kCores +
         " raster(n0.o,n1.o,2) persist(n0.o+n1.o,4)",
     {"svod_cp_async16(", "svod_cp_wait(0)", "svod_ldmatrix_x4_trans("}},
    {"input x: f32[3, 130]\noutput y = softmax(x)\n",
     "group(k0,64) group(k1,64) local(n1,64) global(n0)",
     {"svod_shuffle_xor_f32(", "svod_barrier()"}},
};

}  // namespace

TEST_CASE("opts of GPUs are printed for CUDA and keep the value") {
  for (const Example& example : kExamples) {
    INFO(example.graph << "\n" << example.opts);
    Model model = modelOf(example.graph);
    const auto compiled = compiledForGrid(model, example.opts);
    REQUIRE(compiled->kernels.size() == 1);
    const std::string& text = compiled->kernels[0].source;
    INFO(text);
    for (const char* part : example.says) {
      INFO(part);
      CHECK(text.find(part) != std::string::npos);
    }
    for (const char* part : example.never) {
      INFO(part);
      CHECK(text.find(part) == std::string::npos);
    }
    checkOnGrid(model, example.opts);
  }
}

TEST_CASE("results of every tile go through the same memory, whichever loop is around it") {
  const std::string a = "input a: f16[2, 70, 96]\ninput b: f16[2, 96, 72]\noutput y = relu(matmul(a, b))\n";
  const std::string tile =
      "tile(n1,32) tile(n2,32) order(n0,n1.o,n2.o,n1.i,n2.i) tile(k0,32) pack(1,n1.i,k0.i) pack(2,k0.i,n2.i) "
      "swizzle(p1.n1.i,64) async(p1.n1.i,3) async(p2.k0.i,3) spread(p1.n1.i,8) spread(p2.k0.i,8) tc(0,n1.i,n2.i,k0.i) "
      "local(n1.i,2) local(n2.i,2) upcast(n2.i,0) unroll(k0.i,0) ";
  for (const char* grid :
       {"stash(0) global(n0,n1.o)",
        "merge(n0,n1.o) global(n0+n1.o,n2.o) raster(n0+n1.o,n2.o,2) stash(0) persist(n0+n1.o+n2.o,4)"}) {
    Model model = modelOf(a);
    INFO(grid);
    const auto compiled = compiledForGrid(model, tile + grid);
    INFO(compiled->kernels[0].source);
    CHECK(compiled->kernels[0].source.find("svod_store_u16x8(") != std::string::npos);
    CHECK(compiled->kernels[0].source.find("svod_cp_wait(0)") != std::string::npos);
    checkOnGrid(model, tile + grid);
  }
}

TEST_CASE("a kernel without one of its barriers, waits or groups of copies has a fault, in every mode") {
  int planted = 0;
  for (const Example& example : kExamples) {
    INFO(example.graph << "\n" << example.opts);
    Model model = modelOf(example.graph);
    planted += checkPlanted(model, example.opts);
  }
  CHECK(planted > 25);
}

TEST_CASE("a buffer of as many elements as a run tells is filled by all threads, in rounds") {
  Model model = modelOf("var n in [1, 300]\ninput a: f32[64, n]\ninput b: f32[n, 64]\noutput y = matmul(a, b)\n");
  for (const char* opts :
       {"pack(2,k0) local(n0,64) global(n1)", "pack(2,k0) spread(p2.k0,1) local(n0,64) global(n1)"}) {
    INFO(opts);
    const auto compiled = compiledForGrid(model, opts);
    INFO(compiled->kernels[0].source);
    CHECK(compiled->kernels[0].source.find("== 0") == std::string::npos);  // no gate of one thread
    checkOnGrid(model, opts);
  }
}

TEST_CASE("threads behind the end of an axis read nothing that nobody wrote") {
  const std::string kRows = "var n in [1, 9]\ninput x: f32[n, 12]\noutput y = softmax(x)\n";
  const std::string kSquare = "var n in [1, 9]\ninput x: f32[n, n]\noutput y = softmax(x)\n";
  const std::string kProduct = "var n in [1, 9]\ninput a: f32[n, 5]\ninput b: f32[5, n]\noutput y = matmul(a, b)\n";
  const std::pair<std::string, std::string> kCases[] = {
      {kProduct, "pack(1,k0,n0) tile(n0,3) local(n0.i,2)"},
      {kProduct, "pack(1,k0,n0) local(n1,2) upcast(p1.n0,6) tile(n0,3) local(n0.i,2) pack(1,p1.n0)"},
      {kRows, "vector(n0,8) hold(k1,n0) hold(k0,n0) tile(n1,3) local(n0,2) tile(n1.o,3) local(n1.o.o,0) tile(k0,5)"},
      {kSquare, "upcast(n0,8) hold(k1,n0) vector(h.n0.u,4) local(n0,2)"},
  };
  for (const auto& [graph, opts] : kCases)
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      INFO(graph << opts << ", seed " << seed);
      Model model = modelOf(graph);
      checkOnGrid(model, opts, "sm_80", seed);
    }
}
