// Opts that copy in bulk: what they become, that they keep the value, and that every step of their rings is needed.
#include "cuda_grid/planted.h"

using namespace svod;

namespace {

struct Example {
  std::string graph, opts;
  int copies;                          // bulk copies in the text of the kernel
  std::vector<const char*> says = {};  // what it holds besides
  const char* arch = "sm_90";
};

const std::string kRagged =
    "input a: f16[66, 192]\ninput b: f16[192, 80]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))\n";
const std::string kTiles =
    "tile(n0,32) tile(n1,32) order(n0.o,n1.o,n0.i,n1.i) tile(k0,32) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) ";
const std::string kOneTile = "tc(2,n0.i,n1.i,k0.i) local(n0.i,2) local(n1.i,2) upcast(n1.i,0) unroll(k0.i,0) ",
                  kCores = kOneTile + "global(n0.o,n1.o)", kCoresOfRows = kOneTile + "global(n0.o)";
const std::string kSwizzle = "swizzle(p1.n0.i,64) swizzle(p2.k0.i,64) ";
const std::string kLanes = "vector(n1.i,4) local(n0.i,8) local(n1.i,8) upcast(n0.i,0) upcast(n1.i,0) unroll(k0.i,4) ";

const Example kExamples[] = {
    {kRagged, kTiles + kSwizzle + "bulk(p1.n0.i,3) bulk(p2.k0.i,3) " + kCores, 6, {"svod_ldmatrix_x4_trans("}},
    {kRagged, kTiles + kSwizzle + "bulk(p1.n0.i,2) bulk(p2.k0.i,4) " + kCores, 4},
    {"input a: f16[66, 168]\ninput b: f16[168, 80]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))\n",
     kTiles + kSwizzle + "bulk(p1.n0.i,3) bulk(p2.k0.i,3) " + kCores,  // zeros behind the tensor
     6,
     {"svod_ldmatrix_x4(", "svod_ldmatrix_x4_trans("}},
    {kRagged,
     kTiles + kSwizzle + "bulk(p1.n0.i,3) async(p2.k0.i,3) spread(p2.k0.i,8) " + kCores,
     3,
     {"svod_cp_async16("}},
    {kRagged,  // phases go on from tile to tile
     kTiles + kSwizzle + "bulk(p1.n0.i,4) bulk(p2.k0.i,4) " + kCores + " raster(n0.o,n1.o,2) persist(n0.o+n1.o,4)", 8},
    {kRagged,  // a loop over tiles starts the ring anew
     "tile(n0,32) tile(n1,32) order(n0.o,n1.o,n0.i,n1.i) tile(k0,32) pack(1,n0.i,k0.i) bulk(p1.n0.i,4) " + kCoresOfRows,
     4},
    {"input a: f32[36, 64]\ninput b: f32[64, 72]\noutput y = matmul(a, b)\n",
     "tile(n0,32) tile(n1,64) order(n0.o,n1.o,n0.i,n1.i) tile(k0,16) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) "
     "swizzle(p1.n0.i,64) bulk(p1.n0.i,2) bulk(p2.k0.i,2) " +
         kLanes + "global(n0.o,n1.o)",
     4},
    {"input a: f32[3, 64, 96]\ninput b: f32[3, 96, 64]\noutput y = matmul(a, b)\n",
     "tile(n1,32) tile(n2,32) order(n0,n1.o,n2.o,n1.i,n2.i) tile(k0,16) pack(1,n1.i,k0.i) pack(2,k0.i,n2.i) "
     "bulk(p1.n1.i,3) bulk(p2.k0.i,3) vector(n2.i,4) local(n1.i,8) local(n2.i,8) upcast(n1.i,0) unroll(k0.i,4) "
     "global(n0,n1.o,n2.o)",
     6},
    {"input a: bf16[100, 320]\ninput b: bf16[320, 128]\noutput y = matmul(a, b)\n",
     "tile(n0,64) tile(n1,64) order(n0.o,n1.o,n0.i,n1.i) tile(k0,64) pack(1,n0.i,k0.i) swizzle(p1.n0.i,128) "
     "bulk(p1.n0.i,3) pack(2,k0.i,n1.i) swizzle(p2.k0.i,128) bulk(p2.k0.i,3) tc(5,n0.i,n1.i,k0.i) unroll(k0.i,4) "
     "global(n0.o,n1.o)",
     4,  // one step ahead less: its products are under way
     {"svod_m64n64k16_bf16_f32("},
     "sm_90a"},
};

int countOf(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("opts that copy in bulk are printed for CUDA and keep the value") {
  for (const Example& example : kExamples) {
    INFO(example.graph << "\n" << example.opts);
    Model model = modelOf(example.graph);
    const auto compiled = compiledForGrid(model, example.opts, example.arch);
    REQUIRE(compiled->kernels.size() == 1);
    const std::string& text = compiled->kernels[0].source;
    INFO(text);
    CHECK(countOf(text, "svod_bulk_load(") == example.copies);
    for (const char* part : example.says) CHECK(text.find(part) != std::string::npos);
    checkOnGrid(model, example.opts, example.arch);
  }
}

TEST_CASE("a ring of bulk copies without one of its steps has a fault, in every mode") {
  int planted = 0;
  for (const Example& example : kExamples) {
    INFO(example.graph << "\n" << example.opts);
    Model model = modelOf(example.graph);
    planted += checkPlanted(model, example.opts, example.arch);
  }
  CHECK(planted > 50);
}

TEST_CASE("large products of sm_90 and later are copied in bulk, whatever the variable and the terms are") {
  for (const auto& [terms, arch] : std::initializer_list<std::pair<std::string, const char*>>{
           {"256", "sm_90"}, {"256", "sm_90a"}, {"200", "sm_90"}, {"200", "sm_90a"}}) {
    Model model = modelOf("var n in [1, 200]\ninput a: bf16[n, " + terms + "]\ninput b: bf16[" + terms +
                          ", 192]\noutput y = matmul(a, b)\n");
    const auto compiled = compiledForGrid(model, "", arch);
    INFO(compiled->kernels[0].source);
    CHECK(countOf(compiled->kernels[0].source, "svod_bulk_load(") > 1);
    CHECK(compiled->kernels[0].desc.grid->tensorMaps.size() > 0);
    checkOnGrid(model, "", arch);
  }
}

TEST_CASE("matrices of a batch end where they end, in bulk copies as well") {
  Model model = modelOf("input a: bf16[3, 70, 200]\ninput b: bf16[3, 200, 192]\noutput y = matmul(a, b)\n");
  const auto compiled = compiledForGrid(model, "", "sm_90a");
  INFO(compiled->kernels[0].source);
  CHECK(compiled->kernels[0].source.find("svod_cp_async") == std::string::npos);
  CHECK(compiled->kernels[0].desc.grid->tensorMaps.size() == 2);
  checkOnGrid(model, "", "sm_90a");
}

TEST_CASE("products of older GPUs, and of operands that are read twice, are not copied in bulk") {
  for (const auto& [graph, arch] : std::initializer_list<std::pair<const char*, const char*>>{
           {"input a: bf16[128, 256]\ninput b: bf16[256, 192]\noutput y = matmul(a, b)\n", "sm_80"},
           {"input a: bf16[256, 256]\noutput y = matmul(a, a)\n", "sm_90"}}) {
    Model model = modelOf(graph);
    const auto compiled = compiledForGrid(model, "", arch);
    INFO(compiled->kernels[0].source);
    CHECK(countOf(compiled->kernels[0].source, "svod_bulk_load(") == 0);
    checkOnGrid(model, "", arch);
  }
}
