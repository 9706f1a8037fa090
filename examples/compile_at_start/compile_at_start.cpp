// compile_at_start [ROWS]: a smoothing filter whose taps are chosen when the program starts. It is built as a graph,
// compiled for the processor at hand, and run.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <svod/compiler.hpp>

using namespace svod;

namespace {

int say(const runtime::Error& error) {
  std::fprintf(stderr, "%s [%s]\n%s\n", error.message, error.code, error.help);
  return error.exit_code;
}

/// Rows of any number, each the mean of three neighbours in both directions.
compiler::Result<compiler::Artifacts> compileFilter(std::span<const float> taps) {
  using namespace compiler;
  Result<Graph> graph = Graph::create("filter");
  if (!graph) return graph.error();
  const Size rows = graph->variable("rows", 1, 1024, 4);
  const Value image = graph->input<float>("image", {1, 1, rows, 4});
  const Value filter = graph->weight("filter", {1, 1, 3, 3}, taps);
  graph->output("smooth", ops::conv2d(image, filter, {}, {.padding = 1}));
  return graph->compile();
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4;
  const std::vector<float> taps(9, 1.0f / 9);
  const auto made = compileFilter(taps);
  if (!made) return say(made.error());
  const auto plan = runtime::Plan::load(made->planFiles());
  if (!plan) return say(plan.error());
  auto instance = runtime::Instance::create(*plan);
  if (!instance) return say(instance.error());

  std::vector<float> image(rows * 4), smooth(rows * 4);
  if (image.size() > 6) image[6] = 1;
  if (auto failed = instance->bindInput("image", std::span(image), {1, 1, rows, 4})) return say(*failed);
  if (auto failed = instance->bindOutput("smooth", std::span(smooth))) return say(*failed);
  if (auto failed = instance->execute()) return say(*failed);
  for (std::size_t i = 0; i < smooth.size(); ++i) std::printf("%.2f%c", smooth[i], i % 4 == 3 ? '\n' : ' ');
  return 0;
}
