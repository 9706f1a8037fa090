// Kernels of scheduled models on emulated threads, with what the heuristic chooses for a GPU with tensor cores.
#include <catch2/catch.hpp>

#include "choose/choose.h"
#include "common/model_text.h"
#include "ir/text.h"
#include "opts/emulate.h"
#include "opts/replay.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

struct GraphCase {
  const char* text;
  int tiled;  // kernels whose products go to a tensor core
};

constexpr GraphCase kGraphs[] = {
    {"input a: f32[36, 40]\ninput b: f32[40, 20]\ninput c: f32[20]\noutput y = relu(matmul(a, b) + c)", 1},
    {"input a: f32[3, 36, 40]\ninput b: f32[3, 20, 40]\noutput y = matmul(a, transpose(b))", 1},
    {"input a: f32[3, 72, 80]\ninput b: f32[80, 64]\noutput y = matmul(a, b)", 1},
    {"input x: f32[10, 24]\ninput w: f32[17, 24]\ninput b: f32[17]\noutput y = softmax(linear(x, w, b))", 1},
    {"input x: f32[2, 9, 24, 20]\ninput w: f32[61, 9, 3, 3]\noutput y = conv2d(x, w, padding=[1, 1])", 1},
    {"input x: f32[2, 9, 48, 40]\ninput w: f32[64, 9, 3, 3]\noutput y = conv2d(x, w, stride=[2, 2])", 1},
    {"input x: f32[2, 8, 12, 10]\ninput w: f32[16, 4, 3, 3]\noutput y = conv2d(x, w, groups=2)", 1},
    {"input x: f32[1, 9, 12, 10]\ninput w: f32[16, 9, 1, 1]\noutput y = conv2d(x, w)", 1},
    {"input q: f32[2, 18, 16]\ninput k: f32[2, 18, 16]\ninput v: f32[2, 18, 24]\n"
     "output y = attention(q, k, v, causal=true)",
     2},
    {"input x: f32[18, 16]\ninput s: f32[16]\ninput w: f32[16, 24]\noutput y = matmul(rms_norm(x, s), w)", 1},
    {"input x: f32[18, 16]\ninput g: f32[16, 24]\ninput u: f32[16, 24]\n"
     "output y = silu(matmul(x, g)) * matmul(x, u)",
     2},
    {"input x: f32[18, 16]\ninput w: u8[16, 24]\noutput y = matmul(x, cast(w, dtype=f32) * 0.5)", 1},
    {"input x: f32[16, 20]\ninput w: f32[20, 16]\noutput y = tril(matmul(tril(x), w))", 1},
    {"input x: bf16[18, 16]\ninput w: bf16[16, 24]\noutput y = matmul(x, w)", 1},
    {"var n in [1, 4000]\ninput x: f32[n, 16]\noutput y = matmul(x, transpose(x))", 1},
    {"input x: f32[18, 16]\noutput y = sum(x, axes=1)", 0},
};

// The number of tensor cores in use; the kernel keeps its value.
int checkKernel(Kernel& kernel) {
  Graph& g = *kernel.graph;
  const Caps caps = gpuCaps();
  const std::vector<OptOp> opts = chooseOpts(g, kernel.sink, caps);
  INFO(toText(opts) << "\n" << toUopText(kernel.sink));
  auto tuned = applyOpts(g, kernel.sink, opts, caps);
  REQUIRE(tuned);
  const LinearKernel threads = threadsOf(g, *tuned);
  CHECK(sameBuffers(resultOf(kernel.sink), emulated(threads, kernel.sink), 1e-4));
  const bool multiplies = std::ranges::any_of(threads.ops, [](UOp n) { return n.op() == Op::Wmma; });
  CHECK(multiplies == std::ranges::any_of(opts, [](const OptOp& opt) { return opt.kind == OptKind::Tc; }));
  return multiplies;
}

}  // namespace

TEST_CASE("Products of scheduled models go to tensor cores and keep their value") {
  for (const GraphCase& graph : kGraphs) {
    INFO(graph.text);
    Model model = modelOf(std::string(graph.text) + "\n");
    auto schedule = makeSchedule(model, {});
    REQUIRE(schedule);
    int tiled = 0;
    for (Kernel& kernel : schedule->kernels) tiled += checkKernel(kernel);
    CHECK(tiled == graph.tiled);
  }
}
