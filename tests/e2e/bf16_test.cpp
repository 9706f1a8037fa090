// Products of bf16: the dot products of processors that have them, and what others compute in their place.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"
#include "machine/cpu.h"

using namespace svod;

namespace {

// Opts and source of all kernels, compiled for `cpu`.
std::pair<std::string, std::string> compiledFor(const std::string& text, const char* triple, const char* cpu,
                                                Numerics numerics) {
  Model model = modelOf(text);
  RunOptions run;
  run.numerics = numerics;
  CompileOptions options = compileOptions(run);
  options.machine = *makeCpuTarget(triple, cpu), options.keepSource = true;
  auto compilation = compile(model, options);
  if (!compilation) FAIL(toText(compilation.error()));
  std::string opts, source;
  for (const CompiledKernel& k : (*compilation)->kernels) opts += k.desc.opts + "\n", source += k.source;
  return {opts, source};
}

std::string product(int64_t m, int64_t n, int64_t k, bool byRows = false) {
  auto dims = [](int64_t x, int64_t y) { return "bf16[" + std::to_string(x) + ", " + std::to_string(y) + "]\n"; };
  return "input a: " + dims(m, k) + "input b: " + (byRows ? dims(n, k) : dims(k, n)) +
         "output c = matmul(cast(a, dtype=f32), cast(" + (byRows ? "transpose(b)" : "b") + ", dtype=f32))\n";
}

constexpr const char *kX86 = "x86_64-unknown-linux-gnu", *kArm = "aarch64-unknown-linux-gnu";

// LLVM IR for a processor with tile units.
std::string sourceOf(const std::string& text) {
  return compiledFor(text, kX86, "sapphirerapids", Numerics::Contract).second;
}

}  // namespace

TEST_CASE("matrix products of bf16 use the dot products of the processor unless numerics are strict") {
  const struct {
    const char *triple, *cpu, *instruction;
  } kCpus[] = {{kX86, "znver4", "x86.avx512bf16.dpbf16ps.512"},
               {kArm, "neoverse-v1", "aarch64.neon.bfdot"},
               {kArm, "neoverse-n2", "aarch64.neon.bfdot"}};
  for (const auto& row : kCpus)
    for (const std::string& text : {product(64, 64, 64), product(64, 64, 63), product(64, 64, 64, true)}) {
      INFO(row.cpu << "\n" << text);
      auto [opts, source] = compiledFor(text, row.triple, row.cpu, Numerics::Contract);
      CHECK_THAT(opts, Catch::StartsWith("dot(k0,2) "));  // the only kernel
      CHECK_THAT(source, Catch::Contains(row.instruction));
      CHECK_THAT(compiledFor(text, row.triple, row.cpu, Numerics::Strict).first, !Catch::Contains("dot("));
    }
  for (const auto& [triple, cpu] : {std::pair{kX86, "icelake-server"}, {kArm, "neoverse-n1"}})
    CHECK_THAT(compiledFor(product(64, 64, 64), triple, cpu, Numerics::Contract).first, !Catch::Contains("dot("));
}

TEST_CASE("vectors of every width have an instruction, and lanes that fill none are computed one by one") {
  for (const auto& [columns, instruction] : {std::pair{16, "dpbf16ps.512"}, {8, "dpbf16ps.256"}, {4, "dpbf16ps.128"}})
    CHECK_THAT(compiledFor(product(32, columns, 64), kX86, "znver4", Numerics::Fast).second,
               Catch::Contains(instruction));
  CHECK_THAT(compiledFor(product(32, 2, 64), kX86, "znver4", Numerics::Fast).second, !Catch::Contains("vpdpbf16ps"));
}

TEST_CASE("a group of products has its factors where a size leaves no number of an operand to read") {
  const std::string text =
      "var n in [1, 2] ~ 2\ninput x: bf16[n - 1, 2, n, n]\nweight w: bf16[16, 1, 3, 1] = ones\n"
      "output y = conv2d(x, w, stride=[2, 1], padding=[1, 0, 1, 0], groups=2)\n";
  const auto [opts, source] = compiledFor(text, kX86, "sapphirerapids", Numerics::Contract);
  CHECK_THAT(opts, Catch::Contains("dot(k0,2)"));
  CHECK_THAT(source, Catch::Contains("dpbf16ps"));
}

TEST_CASE("matrix products use the tile unit of a processor, whole steps of which they have") {
  for (const std::string& text :
       {product(64, 64, 64), product(17, 80, 32), product(64, 64, 64, true), product(64, 64, 48)}) {
    INFO(text);
    CHECK_THAT(sourceOf(text), Catch::Contains("x86.tdpbf16ps(") && Catch::Contains("x86.ldtilecfg"));
  }
  for (const std::string& text : {product(15, 64, 64), product(64, 8, 64), product(64, 64, 34)}) {
    INFO(text);
    CHECK_THAT(sourceOf(text), Catch::Contains("dpbf16ps") && !Catch::Contains("tdpbf16ps"));
  }
  for (const auto& [a, b, instruction] :
       {std::tuple{"i8", "i8", "su"}, {"i8", "u8", "su"}, {"u8", "i8", "us"}, {"u8", "u8", "us"}}) {
    const std::string wide = ", dtype=i32))\n";
    CHECK_THAT(sourceOf("input a: " + std::string(a) + "[64, 128]\ninput b: " + b +
                        "[128, 64]\noutput c = matmul(cast(a, dtype=i32), cast(b" + wide),
               Catch::Contains("x86.tdpb" + std::string(instruction) + "d("));
  }
}

TEST_CASE("a plan asks for tile registers where it has tiles alone") {
  const auto featuresOf = [](const std::string& text) {
    Model model = modelOf(text);
    CompileOptions options = compileOptions({});
    options.machine = *makeCpuTarget(kX86, "sapphirerapids");
    auto compilation = compile(model, options);
    if (!compilation) FAIL(toText(compilation.error()));
    return (*compilation)->plan.target.features;
  };
  const auto tiled = featuresOf(product(64, 64, 64)), plain = featuresOf(product(4, 64, 64));
  CHECK(std::ranges::count(tiled, "amx-tile") == 1);
  CHECK(std::ranges::count(plain, "amx-tile") + std::ranges::count(plain, "amx-bf16") == 0);
  CHECK(plain.size() + 3 == tiled.size());
}

TEST_CASE("tiles equal the interpreter on a processor with tile units") {
  if (!makeCpuTarget("", "native")->has("amx-bf16")) return;
  for (const std::string& text : {product(64, 64, 64), product(47, 80, 96), product(16, 16, 32),
                                  product(33, 48, 64, true), product(32, 64, 32)}) {
    INFO(text);
    checkBetweenGuards(text, 0, {});
  }
}

TEST_CASE("convolutions in tiles equal the interpreter on a processor with tile units") {
  const bool runsHere = makeCpuTarget("", "native")->has("amx-int8");
  constexpr int64_t kChannels = 64;
  for (const auto& [filters, lines, columns, call] : {std::tuple{32, 5, 40, "padding=1"},
                                                      {48, 7, 7, "padding=1"},
                                                      {16, 14, 14, "padding=1, stride=2"},
                                                      {32, 9, 33, "stride=2"},
                                                      {24, 6, 17, "padding=2, dilation=2"}}) {
    std::string weights;
    for (int64_t i = 0; i < filters * kChannels * 9; ++i)
      weights += (i ? ", " : "") + std::to_string((i * 89 + i * i) % 256 - 128);
    const std::string dims = "[" + std::to_string(filters) + ", 64, 3, 3]";
    const std::string text = "input x: u8[1, 64, " + std::to_string(lines) + ", " + std::to_string(columns) +
                             "]\nweight w: i8[" + std::to_string(filters * kChannels * 9) + "] = [" + weights +
                             "]\noutput y = conv2d(cast(x, dtype=i32), cast(reshape(w, shape=" + dims +
                             "), dtype=i32), " + call + ")\n";
    INFO(filters << " filters, " << columns << " columns, " << call);
    CHECK_THAT(sourceOf(text), Catch::Contains(filters % 16 == 0 ? "x86.tdpbsud(" : "vpdpbusd"));
    if (runsHere) checkBetweenGuards(text, 0, {});
  }
}

TEST_CASE("groups of bf16 equal the interpreter where no instruction sums them up") {
  for (const char* target : testTargets())
    for (const char* opts : {"dot(2,2)", "dot(2,2) vector(1,8) upcast(0,3)", "dot(2,2) pack(2,2,1) vector(1,4)"})
      for (int64_t k : {16, 33}) {
        RunOptions options;
        options.target = target, options.opts = opts, options.numerics = Numerics::Fast, options.quickC = true;
        checkBetweenGuards(product(7, 8, k), 0, options);
      }
}

TEST_CASE("constant bf16 is laid out in groups when the plan is built") {
  std::string rows;
  for (int64_t i = 0; i < 32; ++i) {
    rows += i ? ", [" : "[";
    for (int64_t j = 0; j < 48; ++j) rows += (j ? ", " : "") + std::to_string((i * 48 + j) % 9);
    rows += "]";
  }
  const std::string text = "input a: bf16[24, 32]\nweight b: bf16[32, 48] = [" + rows + "]\noutput c = matmul(a, b)\n";
  for (const auto& [triple, cpu] : {std::pair{kX86, "sapphirerapids"}, {kArm, "neoverse-v1"}}) {
    auto [opts, source] = compiledFor(text, triple, cpu, Numerics::Fast);
    CHECK_THAT(opts, Catch::StartsWith("dot(k0,2) ") && !Catch::Contains("pack("));
  }
}
