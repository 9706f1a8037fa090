// What is chosen for the classes of kernels on a GPU, as text of CUDA on the emulated grid: results, and that every
// synchronisation of it is needed.
#include "cuda_grid/planted.h"

using namespace svod;

namespace {

struct ClassCase {
  const char *strategy, *graph;
  bool synchronizes;
};

/// Ragged where a strategy takes that; small, as each access is emulated.
constexpr ClassCase kClasses[] = {
    {"core-tiles", "input a: f16[70, 96]\ninput b: f16[96, 72]\noutput y = matmul(a, b)\n", true},
    {"core-tiles", "input a: f16[70, 100]\ninput b: f16[100, 72]\noutput y = matmul(a, b)\n", true},
    {"core-tiles", "input a: bf16[33, 51]\ninput b: bf16[51, 40]\noutput y = matmul(a, b)\n", true},
    {"core-tiles", "input a: bf16[40, 64]\ninput b: bf16[72, 64]\noutput y = relu(matmul(a, transpose(b)))\n", true},
    {"lane-tiles", "input a: f32[70, 40]\ninput b: f32[40, 72]\ninput c: f32[72]\noutput y = matmul(a, b) + c\n", true},
    {"lane-tiles", "input x: f32[1, 8, 12, 12]\ninput w: f32[16, 8, 3, 3]\noutput y = conv2d(x, w, padding=1)\n", true},
    {"row-groups", "input x: f32[6, 1030]\noutput y = softmax(x)\n", true},
    {"row-groups", "input x: f32[9, 64]\noutput y = layer_norm(x)\n", false},
    {"column-groups", "input x: f32[40, 100]\noutput y = reduce_max(x, axes=0)\n", true},
    {"column-groups", "input x: f32[40, 100]\noutput y = relu(matmul(full(0.5, shape=[50, 40]), x))\n", true},
    {"squares", "input x: f32[65, 70]\noutput y = transpose(x) * 2\n", true},
    {"grid-streams", "input a: f32[5000]\ninput b: f32[5000]\noutput y = relu(a * b + a) * b\n", false},
    {"core-tiles",
     "input q: f16[2, 72, 32]\ninput k: f16[2, 264, 32]\ninput v: f16[2, 264, 40]\noutput y = attention(q, k, v)\n",
     true},
    {"column-groups", "input x: f32[3001, 3]\noutput y = sum(x, axes=0)\n", true},
    {"held-rows",
     "input q: f32[1, 40, 16]\ninput k: f32[1, 260, 16]\ninput v: f32[1, 260, 16]\noutput y = attention(q, k, v)\n",
     true},
};

}  // namespace

TEST_CASE("every class of kernels is right on the grid, and needs all its synchronisations") {
  for (const ClassCase& each : kClasses) {
    INFO(each.graph);
    Model model = modelOf(each.graph);
    std::string strategies;
    const auto compiled = compiledForGrid(model, "");
    for (const CompiledKernel& kernel : compiled->kernels) strategies += std::string(kernel.choice.strategy) + " ";
    INFO(strategies);
    CHECK(strategies.find(each.strategy) != std::string::npos);
    checkOnGrid(model, "");
    CHECK((checkPlanted(model, "") > 0) == each.synchronizes);
  }
}

TEST_CASE("updates of a scatter are right where many threads make them") {
  for (const char* graph :
       {"input x: f32[2, 530]\na, b = sort(x)\noutput a\noutput b\n",
        "input x: f32[70, 40]\ninput u: f32[33, 40]\np = reshape(arange(stop=66, step=2), shape=[33, 1])\n"
        "output y = scatter_nd(x, p, u, mode=add, distinct=true)\n",
        "input x: f32[9, 70]\ninput i: i64[5, 1]\ninput u: f32[5, 70]\noutput y = scatter_nd(x, i, u, mode=add)\n",
        "input x: f32[9, 70]\ninput i: i64[9, 20]\ninput u: f32[9, 20]\n"
        "output y = scatter_elements(x, i, u, axis=1)\n"}) {
    INFO(graph);
    Model model = modelOf(graph);
    checkOnGrid(model, "");
  }
}

TEST_CASE("parts of buffers are used where they lie only where vectors are aligned") {
  for (const char* part : {"1:65", "4:68"}) {
    Model model = modelOf("input x: f32[72]\nt = contiguous(x * x)\na = contiguous(t[" + std::string(part) +
                          "])\noutput y = a * 2 + 1\noutput w = t + 1\n");
    const auto compiled = compiledForGrid(model, "");
    CHECK((compiled->kernels.size() == 3) == (part[0] == '4'));
    checkOnGrid(model, "");
  }
}
