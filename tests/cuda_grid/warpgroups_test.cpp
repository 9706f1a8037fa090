// Products of warpgroups in kernels of sm_90a, as text of CUDA on the emulated grid: results, and that every
// synchronisation of them is needed.
#include <random>

#include "choose/choose.h"
#include "cuda_grid/planted.h"
#include "support/integers.h"

using namespace svod;

namespace {

constexpr const char* kArch = "sm_90a";

std::string number(int64_t i) { return std::to_string(i); }

/// Opts of a product of a and b: factors in rows of 128 bytes, of terms, or of columns in slabs of 64. Loops n0 and n1
/// are those of rows and columns; behind a batch, n1 and n2.
std::string optsOf(int m, int n, const std::string& core, int stages, bool aIsTurned, bool bIsTurned,
                   bool isBatched = false) {
  const std::string row = isBatched ? "n1" : "n0", column = isBatched ? "n2" : "n1", batch = isBatched ? "n0," : "";
  std::string opts = "tile(" + row + "," + number(m) + ") tile(" + column + "," + number(n) + ") order(" + batch + row +
                     ".o," + column + ".o," + row + ".i," + column + ".i) tile(k0,64) ";
  const auto shared = [&](const std::string& slot, const std::string& loop, int extent, bool isTurned) -> std::string {
    const bool isCut = isTurned && extent > 64;
    const std::string first = isTurned && !isCut ? "k0.i" : isCut ? loop + ".o" : loop, copy = "p" + slot + "." + first;
    const std::string ring = stages > 1 ? "async(" + copy + "," + number(stages) + ") " : "";
    const std::string axes = isCut ? loop + ".o,k0.i," + loop + ".i" : isTurned ? "k0.i," + loop : loop + ",k0.i";
    return (isCut ? "tile(" + loop + ",64) " : "") + "pack(" + slot + "," + axes + ") swizzle(" + copy + ",128) " +
           ring + "spread(" + copy + ",8) " + (isCut ? "merge(" + loop + ".o," + loop + ".i) " : "");
  };
  opts += shared("1", row + ".i", m, aIsTurned) + shared("2", column + ".i", n, bIsTurned);
  const auto whole = [](const std::string& loop, bool isCut) { return isCut ? loop + ".o+" + loop + ".i" : loop; };
  const std::string rows = whole(row + ".i", aIsTurned && m > 64), columns = whole(column + ".i", bIsTurned && n > 64);
  opts += "tc(" + core + "," + rows + "," + columns + ",k0.i) ";
  return opts + (m > 64 ? "local(" + rows + "," + number(m / 64) + ") " : "") + "unroll(k0.i,0) global(" + batch + row +
         ".o," + column + ".o)";
}

struct Example {
  std::string graph, opts, calls;
};

const std::string kWide = "output y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))\n";
const Example kExamples[] = {
    {"input a: bf16[128, 320]\ninput b: bf16[320, 256]\n" + kWide, optsOf(64, 128, "4", 4, false, true),
     "svod_m64n128k16_bf16_f32("},
    {"input a: f16[256, 256]\ninput b: f16[256, 128]\noutput y = relu(matmul(a, b) * 2 + 1)\n",
     optsOf(128, 64, "2", 3, false, true), "svod_m64n64k16_f16_f32("},
    {"input a: f16[136, 192]\ninput b: f16[80, 192]\noutput y = matmul(a, transpose(b))\n",
     optsOf(64, 64, "2", 3, false, false), "svod_m64n64k16_f16_f32("},
    {"input a: bf16[128, 256]\ninput b: bf16[128, 512]\noutput y = matmul(transpose(a), b)\n",
     optsOf(128, 256, "3", 2, true, true), "svod_m64n256k16_bf16_f32("},
    {"input a: bf16[192, 72]\ninput b: bf16[192, 256]\noutput y = matmul(transpose(a), b)\n",
     optsOf(64, 128, "4", 1, true, true), "svod_m64n128k16_bf16_f32("},
    {"input a: f16[256, 256]\ninput b: f16[256, 128]\noutput y = relu(matmul(a, b) * 2 + 1)\n",
     optsOf(128, 64, "2", 3, false, true) + " stash(0)", "svod_store_u16x8("},
    {"input a: bf16[136, 192]\ninput b: bf16[80, 192]\noutput y = cast(matmul(a, transpose(b)), dtype=f32)\n",
     optsOf(64, 64, "5", 3, false, false) + " stash(0)", "svod_store_f32x4("},
    {"input a: f16[264, 320]\ninput b: f16[80, 320]\noutput y = matmul(a, transpose(b))\n",
     optsOf(128, 64, "2", 4, false, false) + " raster(n0.o,n1.o,2) persist(n0.o+n1.o,4)", "svod_m64n64k16_f16_f32("},
};

}  // namespace

TEST_CASE("warpgroups multiply what their workgroup has copied, in every layout") {
  for (const Example& example : kExamples) {
    INFO(example.graph << "\n" << example.opts);
    Model model = modelOf(example.graph);
    const auto compiled = compiledForGrid(model, example.opts, kArch);
    REQUIRE(compiled->kernels.size() == 1);
    INFO(compiled->kernels[0].source);
    CHECK(compiled->kernels[0].source.find(example.calls) != std::string::npos);
    checkOnGrid(model, example.opts, kArch);
  }
}

TEST_CASE("warpgroups find their factors beside short copies that their workgroup shares") {
  Model model = modelOf(
      "input a: bf16[128, 128]\ninput b: bf16[128, 64]\ninput c: bf16[64]\ninput d: bf16[64]\n"
      "output y = matmul(a, b) * c + d\n");
  const std::string opts =
      "tile(n0,64) tile(k0,64) pack(1,n0.i,k0.i) swizzle(p1.n0.i,128) async(p1.n0.i,2) "
      "spread(p1.n0.i,8) pack(2,k0.i,n1) swizzle(p2.k0.i,128) async(p2.k0.i,2) "
      "spread(p2.k0.i,8) tc(5,n0.i,n1,k0.i) unroll(k0.i,0) global(n0.o)";
  const std::string packs = "pack(3,n1) pack(4,n1) ";
  const auto compiled = compiledForGrid(model, packs + opts, kArch);
  REQUIRE(compiled->kernels.size() == 1);
  INFO(compiled->kernels[0].source);
  CHECK(compiled->kernels[0].source.find("(svod_shared + 32896)") != std::string::npos);  // behind 4 x 8 KiB and c
  checkOnGrid(model, packs + opts, kArch);
}

TEST_CASE("a product of warpgroups without one of its fences, commits, waits or barriers has a fault, in every mode") {
  for (size_t i : {1, 4, 5, 7}) {
    INFO(kExamples[i].graph << "\n" << kExamples[i].opts);
    Model model = modelOf(kExamples[i].graph);
    CHECK(checkPlanted(model, kExamples[i].opts, kArch) >= 6);
  }
}

TEST_CASE("products of drawn shapes, layouts, batches, rings and what follows them are right on warpgroups") {
  std::mt19937_64 random(18);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const auto drawn = [&](bool isTurned, int64_t tile) {  // what is copied as columns has them by eights
    const int64_t extent = tile + 1 + below(tile);
    return isTurned ? roundUp(extent, 8) : extent | 1;
  };
  for (int i = 0; i < 3; ++i) {
    const bool isBfloat = below(2) == 1, isBatched = below(3) == 0, aIsTurned = below(2) == 1,
               bIsTurned = below(2) == 1;
    const int core = static_cast<int>(below(3)), rows = 64 << below(2), columns = 256 >> core;
    const int stages = static_cast<int>(1 + below(4));
    if (stages * (rows + columns) * 128 > 227 << 10) continue;
    const int64_t m = drawn(aIsTurned, rows), n = drawn(bIsTurned, columns), k = 64 * (2 + below(2));
    const std::string type = isBfloat ? "bf16[" : "f16[", batch = isBatched ? "2, " : "";
    const std::string both[] = {number(m) + ", " + number(k), number(k) + ", " + number(m)},
                      others[] = {number(n) + ", " + number(k), number(k) + ", " + number(n)};
    const std::string a = aIsTurned ? "transpose(a)" : "a", b = bIsTurned ? "b" : "transpose(b)";
    const std::string product = "matmul(" + a + ", " + b + ")";
    const std::string ends[] = {product, "relu(" + product + " + c)", product + " * 0.5 + d",
                                "cast(" + product + ", dtype=f32)"};
    const std::string graph = "input a: " + type + batch + both[aIsTurned] + "]\ninput b: " + type + batch +
                              others[bIsTurned] + "]\ninput c: " + type + number(n) + "]\ninput d: " + type +
                              number(m) + ", " + number(n) + "]\noutput y = " + ends[below(4)] + "\n";
    const std::string opts =
        optsOf(rows, columns, number(core + (isBfloat ? 3 : 0)), stages, aIsTurned, bIsTurned, isBatched);
    INFO(graph << opts);
    Model model = modelOf(graph);
    const auto compiled = compiledForGrid(model, opts, kArch);
    CHECK(compiled->kernels[0].source.find("svod_m64n" + number(columns)) != std::string::npos);
    checkOnGrid(model, opts, kArch);
  }
}

TEST_CASE("sm_90a multiplies large matrices by warpgroups, and what they do not fit by warps") {
  struct Choice {
    const char *a, *b, *type, *arch;
    bool isOfWarpgroups;
  };
  for (const Choice& each : {Choice{"1024, 512", "512, 2048", "bf16", "sm_90a", true},
                             Choice{"1024, 512", "512, 2048", "f16", "sm_90a", true},
                             Choice{"4, 1024, 512", "4, 512, 1024", "bf16", "sm_90a", true},
                             Choice{"1024, 504", "504, 2048", "bf16", "sm_90a", true},
                             Choice{"1024, 500", "500, 2048", "bf16", "sm_90a", false},
                             Choice{"1024, 512", "512, 2048", "bf16", "sm_90", false},
                             Choice{"1024, 512", "512, 2048", "bf16", "sm_100a", false}}) {
    INFO(each.a << " times " << each.b << " of " << each.type << " for " << each.arch);
    const std::string type = each.type;
    Model model = modelOf("input a: " + type + "[" + each.a + "]\ninput b: " + type + "[" + each.b +
                          "]\noutput y = matmul(a, b)\n");
    const auto compiled = compiledForGrid(model, "", each.arch);
    CHECK((compiled->kernels[0].source.find("svod_m64n") != std::string::npos) == each.isOfWarpgroups);
  }
}
