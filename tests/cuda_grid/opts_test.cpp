// Opts of GPUs as text of CUDA and as results: axes of the grid and of workgroups, shared reductions, vectors, tensor
// cores.
#include <catch2/catch.hpp>

#include "common/error_bound.h"
#include "common/random_graph.h"
#include "cuda_grid/on_grid.h"
#include "frontend/frontend.h"

using namespace svod;

namespace {

struct Example {
  const char *graph, *opts;
  std::vector<const char*> says;  // what the text of the kernel holds
};

const Example kExamples[] = {
    {"input x: f32[12, 20]\noutput y = x * x",
     "global(0,1) local(1,4)",
     {"svod_gidx0()", "svod_gidx1()", "svod_lidx0()"}},
    {"input x: f32[6, 64]\noutput y = sum(x, axes=[1])",
     "global(0) group(1,16)",
     {"svod_lidx0()", "SVOD_SHARED", "svod_barrier()"}},
    {"input x: f32[8, 64]\noutput y = x * 2 + 1", "vector(1,4) global(0)", {"svod_load_f32x4(", "svod_store_f32x4("}},
    {"input x: f16[8, 64]\noutput y = x * x",
     "vector(1,8) global(0)",
     {"svod_load_u16x8(", "svod_store_u16x8(", "svod_f16_f32("}},
    {"input x: f32[8, 63]\noutput y = x * 2 + 1", "vector(1,4) global(0)", {"svod_load_f32("}},  // rows are not aligned
    {"input a: f16[32, 32]\ninput b: f16[32, 16]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))",
     "tc(3,0,1,2)",
     {"svod_m16n8k8_f16_f32("}},
    {"input a: f16[32, 32]\ninput b: f16[32, 16]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))",
     "tc(0,0,1,2)",
     {"svod_m16n8k16_f16_f32("}},
    {"input a: bf16[32, 32]\ninput b: bf16[32, 16]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))",
     "tc(1,0,1,2)",
     {"svod_m16n8k16_bf16_f32("}},
};

Model modelOf(const char* text) {
  Result<GraphFile> file = parseGraph("svod 1\n" + std::string(text) + "\n", "test");
  if (!file) FAIL(toText(file.error()));
  Result<Model> model = buildModel(*file);
  if (!model) FAIL(toText(model.error()));
  return std::move(*model);
}

void check(const Example& example) {
  INFO(example.graph << "\n" << example.opts);
  Model model = modelOf(example.graph);
  RunOptions options = onGrid(1, Numerics::Contract, {Delay::Random, 5});
  options.opts = example.opts;
  CompileOptions wanted = compileOptions(options);
  wanted.keepSource = true;
  auto compiled = compile(model, wanted);
  if (!compiled) FAIL(toText(compiled.error()));
  REQUIRE((*compiled)->kernels.size() == 1);
  const std::string& text = (*compiled)->kernels[0].source;
  INFO(text);
  for (const char* part : example.says) CHECK(text.find(part) != std::string::npos);
  RandomOptions moderate;
  moderate.contract = true;
  const ModelBindings bindings = randomBindings(model, 3, moderate);
  const auto expected = interpretWithBounds(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  for (Delay delay : kDelays) {
    RunOptions run = onGrid(1, Numerics::Contract, {delay, 5});
    run.opts = example.opts;
    const auto actual = runPlan(model, bindings, run);
    if (!actual) FAIL(toText(actual.error()));
    for (size_t i = 0; i < model.ports.size(); ++i)
      if (model.ports[i].kind == PortKind::Output)
        CHECK(differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i]) == "");
  }
}

/// What is wrong with a text in place of the kernel's, "" where nothing is found.
std::string faultOf(const KernelDesc& kernel, const std::string& text, Delay delay) {
  auto code = HostKernel::load(text, kernel.symbol, *compileOptions({}).linker);
  if (!code) return toText(code.error());
  std::vector<std::vector<std::max_align_t>> memory;
  std::vector<void*> buffers;
  for (const KernelArg& arg : kernel.args)
    buffers.push_back(memory.emplace_back(arg.bytes / sizeof(std::max_align_t) + 1).data());
  std::array<int64_t, 3> groups{};
  for (size_t i = 0; i < 3; ++i) groups[i] = *kernel.grid->groups[i].constant();
  EmulatedGrid grid({delay, 5});
  code->use(grid.calls());
  return grid.run(gridLaunch(kernel, *code, groups, buffers, nullptr));
}

/// Texts with one call of `what` left out.
std::vector<std::string> withoutOne(const std::string& text, const std::string& what) {
  std::vector<std::string> all;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
    all.push_back(std::string(text).erase(at, what.size()));
  return all;
}

}  // namespace

TEST_CASE("a kernel without one of its barriers has a fault, in every mode") {
  int barriers = 0;
  for (const Example& example : kExamples) {
    Model model = modelOf(example.graph);
    RunOptions options = onGrid(1, Numerics::Contract, {});
    options.opts = example.opts;
    CompileOptions wanted = compileOptions(options);
    wanted.keepSource = true;
    auto compiled = compile(model, wanted);
    if (!compiled) FAIL(toText(compiled.error()));
    const CompiledKernel& kernel = (*compiled)->kernels[0];
    for (Delay delay : kDelays) {
      INFO(example.opts << ", delay " << static_cast<int>(delay));
      CHECK(faultOf(kernel.desc, kernel.source, delay) == "");
      for (const std::string& text : withoutOne(kernel.source, "svod_barrier();")) {
        ++barriers;
        CHECK(faultOf(kernel.desc, text, delay) != "");
      }
    }
  }
  CHECK(barriers > 2);
}

TEST_CASE("opts of GPUs are printed for CUDA and keep the value") {
  for (const Example& example : kExamples) check(example);
}
