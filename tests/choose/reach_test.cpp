// What the heuristic chooses lies within reach of a search: each opt of its lists is proposed for the kernel it meets.
#include <catch2/catch.hpp>
#include <filesystem>

#include "choose/choose.h"
#include "common/model_text.h"
#include "opts/emulate.h"
#include "opts/machines.h"
#include "opts/propose.h"
#include "opts/replay.h"
#include "schedule/schedule.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

// The graphs of benchmarks/cases.py, one for each kind.
constexpr const char* kCases[] = {
    "input a: f32[64, 64]\ninput b: f32[64, 64]\noutput y = matmul(a, b)",
    "input a: f32[128, 128]\ninput b: f32[128, 128]\noutput y = matmul(a, b)",
    "input a: f32[256, 256]\ninput b: f32[256, 256]\noutput y = matmul(a, b)",
    "input a: f32[1024, 1024]\ninput b: f32[1024, 1024]\noutput y = matmul(a, b)",
    "input a: f32[2048, 2048]\ninput b: f32[2048, 2048]\noutput y = matmul(a, b)",
    "input a: f32[197, 768]\ninput b: f32[768, 768]\noutput y = matmul(a, b)",
    "input a: f32[128, 3072]\ninput b: f32[3072, 768]\noutput y = matmul(a, b)",
    "input a: f32[128, 3072]\ninput b: f32[768, 3072]\noutput y = matmul(a, transpose(b))",
    "input a: f32[3072, 512]\ninput b: f32[3072, 768]\noutput y = matmul(transpose(a), b)",
    "input a: f32[1, 4096]\ninput b: f32[4096, 4096]\noutput y = matmul(a, b)",
    "input a: f32[8, 4096]\ninput b: f32[4096, 4096]\noutput y = matmul(a, b)",
    "input a: f32[509, 509]\ninput b: f32[509, 509]\noutput y = matmul(a, b)",
    "input a: f32[7, 13]\ninput b: f32[13, 1009]\noutput y = matmul(a, b)",
    "input a: f32[1, 1]\ninput b: f32[1, 4096]\noutput y = matmul(a, b)",
    "input a: bf16[1024, 1024]\ninput b: bf16[1024, 1024]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))",
    "input a: u8[1024, 1024]\ninput b: i8[1024, 1024]\noutput y = matmul(cast(a, dtype=i32), cast(b, dtype=i32))",
    "input a: i8[1024, 1024]\ninput b: i8[1024, 1024]\noutput y = matmul(cast(a, dtype=i32), cast(b, dtype=i32))",
    "input x: f32[1, 3, 224, 224]\ninput w: f32[64, 3, 7, 7]\noutput y = conv2d(x, w, stride=2, padding=3)",
    "input x: f32[1, 64, 56, 56]\ninput w: f32[256, 64, 1, 1]\noutput y = conv2d(x, w)",
    "input x: f32[1, 64, 56, 56]\ninput w: f32[64, 64, 3, 3]\noutput y = conv2d(x, w, padding=1)",
    "input x: f32[1, 128, 28, 28]\ninput w: f32[128, 128, 3, 3]\noutput y = conv2d(x, w, padding=1)",
    "input x: f32[1, 256, 14, 14]\ninput w: f32[256, 256, 3, 3]\noutput y = conv2d(x, w, padding=1)",
    "input x: f32[2, 512, 7, 7]\ninput w: f32[512, 512, 3, 3]\noutput y = conv2d(x, w, padding=1)",
    "input x: f32[1, 96, 112, 112]\ninput w: f32[96, 1, 3, 3]\noutput y = conv2d(x, w, padding=1, groups=96)",
    "input x: f32[2, 32, 40, 40]\ninput w: f32[64, 16, 3, 3]\noutput y = conv2d(x, w, stride=2, groups=2)",
    "input x: f32[1, 64, 40, 40]\ninput w: f32[64, 64, 3, 3]\noutput y = conv2d(x, w, padding=2, dilation=2)",
    "input a: f32[16777216]\ninput b: f32[16777216]\noutput y = relu(a * b + a) * b",
    "input x: f32[16777216]\noutput y = gelu(x)",
    "input x: f32[16777216]\noutput y = sum(x)",
    "input x: f32[4096, 1024]\noutput y = softmax(x)",
    "input x: f32[4096, 1024]\noutput y = layer_norm(x)",
    "input x: f32[4096, 4096]\noutput y = transpose(x)",
    "input x: f32[1024, 256]\noutput y = cumsum(x, axis=0)",
    "input x: f32[256, 1024]\noutput y = cumsum(x, axis=1)",
    "input x: f32[512, 64]\ninput i: i64[96, 1]\ninput u: f32[96, 64]\noutput y = scatter_nd(x, i, u)",
    "input q: f32[8, 512, 64]\ninput k: f32[8, 512, 64]\ninput v: f32[8, 512, 64]\noutput y = attention(q, k, v)",
    ("input q: f32[8, 2048, 64]\ninput k: f32[8, 2048, 64]\ninput v: f32[8, 2048, 64]\n"
     "output y = attention(q, k, v, causal=true)"),
    "var n in [1, 512]\ninput a: f32[n, 64]\noutput y = softmax(matmul(a, transpose(a)))",
};

// The opt, or another that makes the same kernel of it, is proposed.
bool isProposed(Graph& g, const NamedKernel& kernel, const AppliedOpt& chosen, const Caps& caps) {
  const std::vector<OptOp> moves = info(chosen.opt.kind).propose(KernelFacts(kernel.sink), kernel.names, caps);
  if (std::ranges::find(moves, chosen.opt) != moves.end()) return true;
  return std::ranges::any_of(moves, [&](const OptOp& move) {
    const Result<AppliedOpt> made = tryOpt(g, kernel, move, caps);
    return made && made->kernel.sink == chosen.kernel.sink;
  });
}

// The opts of what is chosen that are not proposed where they stand.
std::string outOfReach(Graph& g, UOp sink, const Caps& caps) {
  std::string text;
  for (const auto& [seed, time] : seedsOf(g, sink, caps)) {
    NamedKernel kernel(sink);
    for (const OptOp& opt : optsOf(seed)) {
      Result<AppliedOpt> applied = applyOpt(g, kernel, opt, caps);
      REQUIRE(applied);
      if (!isProposed(g, kernel, *applied, caps))
        text += toText(opt) + " in " + toText(optsOf(seed)) + " at " + kernel.names.describe(kernel.sink) + "\n";
      kernel = std::move(applied->kernel);
    }
  }
  return text;
}

void checkGraph(Model model, const Caps& caps) {
  auto schedule = makeSchedule(model, {caps.numerics, {.bf16Dots = caps.bf16Dots}, {}, {}});
  REQUIRE(schedule);
  for (Kernel& kernel : schedule->kernels)
    CHECK(outOfReach(*kernel.graph, simplify(*kernel.graph, kernel.sink), caps) == "");
}

std::vector<Caps> machines() {
  Caps dots = avx512();
  dots.mixedDots = dots.bf16Dots = true, dots.numerics = Numerics::Fast, dots.workers = 2;
  return {Caps(), avx512(), dots, gpuCaps()};
}

}  // namespace

TEST_CASE("every opt that is chosen for the benchmark cases is proposed for the kernel it meets") {
  for (const char* text : kCases)
    for (const Caps& caps : machines()) {
      INFO(text);
      checkGraph(modelOf(std::string(text) + "\n"), caps);
    }
}

TEST_CASE("every opt that is chosen for the examples is proposed for the kernel it meets") {
  int graphs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("examples")) {
    if (entry.path().extension() != ".svod") continue;
    INFO(entry.path().string());
    for (const Caps& caps : machines()) {
      Result<Model> model = loadModel(entry.path().string());
      REQUIRE(model);
      checkGraph(std::move(*model), caps);
    }
    ++graphs;
  }
  CHECK(graphs >= 7);
}

// Of the last kernel of a graph, with AVX-512.
std::string lastChoice(const std::string& text) {
  Model model = modelOf(text);
  auto schedule = makeSchedule(model, {Numerics::Contract, {}, {}, {}});
  REQUIRE(schedule);
  Kernel& last = schedule->kernels.back();
  return toText(optsOf(choose(*last.graph, simplify(*last.graph, last.sink), avx512())));
}

TEST_CASE("Results of a scan across rows stay in registers, and each element is read once for them") {
  const std::string list = lastChoice("input x: f32[1024, 256]\noutput y = cumsum(x, axis=0)\n");
  INFO(list);
  CHECK(list.find("upcast(n0.i,8)") != std::string::npos);
  CHECK(list.find("unroll(k0,8)") != std::string::npos);
}

TEST_CASE("Lanes of a scan along rows are its blocks, which are transposed in registers") {
  const std::string list = lastChoice("input x: f32[256, 1024]\noutput y = cumsum(x, axis=1)\n");
  INFO(list);
  CHECK(list.find("upcast(n1.i,8)") != std::string::npos);
  CHECK(list.find("unroll(k0,8)") != std::string::npos);
  CHECK(list.find("vector(n0+n1.o,16)") != std::string::npos);
}

TEST_CASE("Updates that must be made in order have lanes along the axes where they do not meet") {
  const std::string list =
      lastChoice("input x: f32[512, 64]\ninput i: i64[96, 1]\ninput u: f32[96, 64]\noutput y = scatter_nd(x, i, u)\n");
  INFO(list);
  CHECK(list.find("vector(n1,16)") != std::string::npos);
}
