// The compiler as a library: what is built, compiled and read back is run with the runtime.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <svod/compiler.hpp>
#include <thread>

using namespace svod::compiler;
namespace runtime = svod::runtime;

namespace {

/// The files of a compile, by path.
std::map<std::string, std::string> filesOf(const Artifacts& made) {
  std::map<std::string, std::string> files;
  for (size_t i = 0; i < made.count(); ++i) {
    const std::span<const std::byte> data = made.data(i);
    files.emplace(made.path(i), std::string(reinterpret_cast<const char*>(data.data()), data.size()));
  }
  return files;
}

/// y = x * w + 1, of n rows.
Graph smallGraph(std::span<const float> weights) {
  Result<Graph> graph = Graph::create("small");
  REQUIRE(graph);
  const Value x = graph->input<float>("x", {graph->variable("n", 1, 64), 3});
  const Value w = graph->weight("w", {3, 2}, weights);
  graph->output("y", ops::matmul(x, w) + 1);
  return std::move(*graph);
}

std::vector<float> outputOf(const Artifacts& made, std::span<const float> x, uint64_t n, size_t count) {
  const std::vector<svod_file> files = made.planFiles();
  auto plan = runtime::Plan::load(files);
  if (!plan) FAIL(plan.error().message);
  auto instance = runtime::Instance::create(*plan);
  REQUIRE(instance);
  std::vector<float> y(count);
  REQUIRE(!instance->bindInput("x", x, {n, 3}));
  REQUIRE(!instance->bindOutput("y", std::span(y)));
  REQUIRE(!instance->execute());
  return y;
}

const std::vector<float> kWeights = {1, 2, 3, 4, 5, 6};

}  // namespace

TEST_CASE("a graph that a program builds is compiled in memory and runs") {
  Graph graph = smallGraph(kWeights);
  if (graph.failed()) FAIL(graph.failed()->message);
  auto made = graph.compile();
  if (!made) FAIL(made.error().message);
  CHECK(made->path(0).starts_with("small.plan/"));
  CHECK(made->report().find("\"filesWritten\"") != std::string_view::npos);
  const std::vector<float> x = {1, 0, 0, 0, 1, 1};
  CHECK(outputOf(*made, x, 2, 4) == std::vector<float>{2, 3, 9, 11});
  CHECK(svod_compiler_abi() == SVOD_COMPILER_ABI);
}

TEST_CASE("a graph and its text compile to the same bytes, on any thread and as often as asked for") {
  Graph graph = smallGraph(kWeights);
  const auto text = graph.text();
  REQUIRE(text);
  CHECK(text->find("matmul(x, w)") != std::string::npos);
  const auto first = graph.compile();
  REQUIRE(first);
  std::vector<std::map<std::string, std::string>> others(3);
  std::vector<std::thread> threads;
  for (auto& files : others)
    threads.emplace_back([&] {
      svod_artifacts* made = nullptr;
      if (svod_compile_text(text->c_str(), "small", nullptr, 0, nullptr, &made, nullptr) == 0)
        files = filesOf(Artifacts(made));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& files : others) CHECK(files == filesOf(*first));
  const auto again = graph.compile();
  REQUIRE(again);
  CHECK(filesOf(*again) == filesOf(*first));
}

TEST_CASE("results of flags lie in the folder of the artifacts, or in one that is named") {
  Graph graph = smallGraph(kWeights);
  const Flags flags = {"--emit", "header=small.h", "--emit", "static-lib=small.a", "--cpu", "x86-64-v3"};
  const auto made = graph.compile(flags);
  if (!made) FAIL(made.error().message);
  const auto files = filesOf(*made);
  REQUIRE(files.size() == 2);
  CHECK(files.at("small.h").find("small_run(") != std::string::npos);
  CHECK(files.at("small.a").starts_with("!<arch>"));

  const auto folder = std::filesystem::temp_directory_path() / ("svod_compiler_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto placed = graph.compile({"-o", "p"}, folder.string());
  if (!placed) FAIL(placed.error().message);
  CHECK(std::filesystem::exists(folder / "p/plan.json"));
  CHECK(placed->path(0).starts_with("p/"));
  std::filesystem::remove_all(folder);

  for (const char* outside : {"/tmp/p", "../p", "-"}) {
    const auto refused = graph.compile({"-o", outside});
    REQUIRE(!refused);
    CHECK(std::string_view(refused.error().code) == "usage");
  }
}

TEST_CASE("the first error of a graph stays, with what to do next") {
  Graph graph = smallGraph(kWeights);
  const Value x = graph.input<float>("z", {4, 5});
  const Value wrong = ops::matmul(x, x);
  CHECK(!wrong);
  CHECK(!ops::relu(wrong));
  REQUIRE(graph.failed());
  CHECK(std::string_view(graph.failed()->code) == "shape-mismatch");
  CHECK(std::string_view(graph.failed()->message).find("matmul") != std::string_view::npos);
  const auto made = graph.compile();
  REQUIRE(!made);
  CHECK(std::string_view(made.error().message) == graph.failed()->message);
}

TEST_CASE("a call that fails leaves its graph as it was") {
  svod_graph* graph = nullptr;
  svod_error error;
  REQUIRE(svod_graph_create("g", &graph, &error) == 0);
  const svod_size dims[] = {2};
  svod_value x = 0, y = 0;
  REQUIRE(svod_graph_input(graph, "x", {"f32", dims, 1}, &x, &error) == 0);
  CHECK(svod_graph_input(graph, "x", {"f32", dims, 1}, &y, &error) != 0);
  CHECK(svod_graph_input(graph, "y", {"float", dims, 1}, &y, &error) != 0);
  CHECK(std::string_view(error.code) == "unknown-dtype");
  CHECK(svod_graph_op(graph, "rleu", &x, 1, nullptr, 0, &y, 1, nullptr, &error) != 0);
  CHECK(std::string_view(error.help).find("relu") != std::string_view::npos);
  const svod_value stranger = 77;
  CHECK(svod_graph_op(graph, "relu", &stranger, 1, nullptr, 0, &y, 1, nullptr, &error) != 0);
  CHECK(svod_graph_op(graph, "relu", nullptr, 1, nullptr, 0, &y, 1, nullptr, &error) == 2);
  CHECK(svod_graph_end_loop(graph, &error) == 2);
  const int64_t axis = 7;
  const svod_attribute attribute = {"axis", SVOD_ATTRIBUTE_INTEGER, SVOD_NONE, &axis};
  CHECK(svod_graph_op(graph, "softmax", &x, 1, &attribute, 1, &y, 1, nullptr, &error) != 0);
  CHECK(y == 0);
  REQUIRE(svod_graph_op(graph, "relu", &x, 1, nullptr, 0, &y, 1, nullptr, &error) == 0);
  CHECK(svod_graph_rank(graph, y) == 1);
  CHECK(std::string_view(svod_graph_dtype(graph, y)) == "f32");
  REQUIRE(svod_graph_output(graph, "y", y, &error) == 0);
  svod_artifacts* made = nullptr;
  const char* const unknown[] = {"--sped", "up"};
  CHECK(svod_compile_graph(graph, unknown, 2, nullptr, &made, &error) == 2);
  CHECK(svod_compile_graph(graph, nullptr, 0, nullptr, &made, &error) == 0);
  CHECK(svod_graph_output(graph, "z", y, &error) == 2);
  svod_artifacts_free(made);
  svod_graph_free(graph);
}

TEST_CASE("sizes are numbers and arithmetic, states and loops are built as graph files have them") {
  Result<Graph> graph = Graph::create("sizes");
  REQUIRE(graph);
  CHECK((Size(7) / 2).get() == 3);
  CHECK((Size(-7) % 2).get() == 1);
  const Size n = graph->variable("n", 2, 32, 8);
  const Value x = graph->input<float>("x", {n * 2, 3});
  const Value sum = graph->state("sum", "f32", {3});
  const Value turned = graph->temporary(sum);
  graph->loop("i", n, [&](Size i) { graph->assign(turned, turned + ops::at(x, {i * 2}, {.axes = 0})); });
  graph->assign(sum, turned);
  graph->output("y", turned);
  graph->output("halves", ops::reshape(x, {x.dim(0) / 2, 6}));
  const std::vector<Value> sorted = ops::sort(x, {.axis = 1});
  REQUIRE(sorted.size() == 2);
  graph->output("least", ops::concat({sorted[0], x}, {.axis = 1}));
  if (graph->failed()) FAIL(graph->failed()->message);
  const auto text = graph->text();
  if (!text) FAIL(text.error().message);
  CHECK(text->find("loop i < n") != std::string::npos);
  const auto made = graph->compile({"--verify"});
  if (!made) FAIL(made.error().message);
}

TEST_CASE("mistakes of files come with their place") {
  svod_artifacts* made = nullptr;
  svod_error error;
  CHECK(svod_compile_text("svod 1\ninput x: f32[2]\noutput y = relo(x)\n", "wrong", nullptr, 0, nullptr, &made,
                          &error) != 0);
  CHECK(std::string_view(error.message).starts_with("wrong.svod:3:12: "));
  CHECK(svod_compile_file("/no/such/file.svod", nullptr, 0, nullptr, &made, &error) != 0);
  CHECK(svod_compile_file("-", nullptr, 0, nullptr, &made, &error) == 2);
  CHECK(svod_compile_file(nullptr, nullptr, 0, nullptr, &made, nullptr) == 2);
}
