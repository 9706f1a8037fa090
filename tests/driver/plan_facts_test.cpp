// What a plan says about its outputs and kernels, beside what follows from the graph by hand.
#include <catch2/catch.hpp>

#include "common/graphs.h"
#include "common/model_text.h"
#include "driver/compile.h"
#include "plan/json.h"

using namespace svod;

namespace {

Plan planOf(Model& model) {
  CompileOptions options;
  options.target = *targetByName("c"), options.tools = *options.target->open({{{"cc", "none"}}});
  options.machine = makeCpuTarget("x86_64-unknown-linux-gnu", "x86-64-v3").value();
  auto done = compile(model, options);
  if (!done) FAIL(toText(done.error()));
  return (*done)->plan;
}

std::string argsText(const KernelDesc& kernel) {
  std::string text;
  for (const KernelArg& arg : kernel.args)
    text += std::string(reads(arg.mode) ? "r" : "") + (writes(arg.mode) ? "w" : "") + " " +
            std::string(nameOf(arg.dtype)) + " " + std::to_string(arg.bytes) + "; ";
  return text;
}

}  // namespace

TEST_CASE("outputs keep the order, the shapes and the dtypes of the graph") {
  GraphMaker m;
  UOp x = m.input("x", {3, 4});
  m.output("z", m.g.cast(x, DType::F64));
  m.output("a", m.g.alu(Op::Lt, {x, m.f32(0)}));
  m.output("m", m.reduce(Op::Add, x, {0}));
  m.output("none", m.shrink(x, {0, 4}, {3, 0}));
  const Plan plan = planOf(m.model);
  std::string text;
  for (const Port& port : plan.outputs) {
    const BufferDesc& buffer = plan.buffers[port.buffer];
    text += port.name + " " + std::string(nameOf(buffer.dtype)) + " [";
    for (uint64_t dim : buffer.shape) text += " " + std::to_string(dim);
    text += " ]; ";
  }
  CHECK(text == "z f64 [ 3 4 ]; a bool [ 3 4 ]; m f32 [ 4 ]; none f32 [ 3 0 ]; ");
}

TEST_CASE("a kernel's arguments, values and estimates follow from its graph") {
  GraphMaker m;
  UOp n = m.g.make(Op::Var, DType::Index, {}, VarArg{"n", 1, 8});
  m.model.variables.push_back(n);
  const auto port = [&](PortKind kind, const char* name, std::vector<UOp> dims) {
    UOp b = m.g.buffer(DType::F32, dims, {static_cast<uint32_t>(m.model.ports.size()), Space::Global});
    m.model.ports.push_back({kind, name, b, {}});
    return b;
  };
  UOp x = port(PortKind::Input, "x", {n, m.g.index(6)}), s = m.state("s", {6});
  m.output("y", m.g.alu(Op::Mul, {m.g.alu(Op::Add, {x, x}), x}));
  m.store(s, m.g.alu(Op::Add, {s, m.f32(1)}));
  const Plan plan = planOf(m.model);
  REQUIRE(plan.kernels.size() == 2);
  const auto ofValues = [&](size_t count) {
    for (const KernelDesc& kernel : plan.kernels)
      if (kernel.values.size() == count) return kernel;
    FAIL("no kernel takes " << count << " values");
    return KernelDesc{};
  };
  const KernelDesc product = ofValues(1), counter = ofValues(0);
  CHECK(argsText(product) == "w f32 192; r f32 192; ");
  CHECK(product.values == std::vector<std::string>{"n"});
  for (int64_t rows : {1, 5, 8}) {
    const std::vector<int64_t> at = {rows};
    CHECK(product.flops.evaluate(at, product.values).value() == 2 * 6 * rows);
    CHECK(product.bytes.evaluate(at, product.values).value() == 2 * 4 * 6 * rows);
  }
  CHECK(argsText(counter) == "rw f32 24; ");
  CHECK(counter.flops.constant() == 6);
  CHECK(counter.bytes.constant() == 4 * 6);
}

TEST_CASE("a buffer that is read several times counts once, whatever its size") {
  Model model = modelOf("var n in [1, 64]\ninput x: f32[n, 64]\noutput y = softmax(x, axis=1)\n");
  const Plan plan = planOf(model);
  REQUIRE(plan.kernels.size() == 1);
  for (int64_t rows : {1, 7, 64}) {
    const std::vector<int64_t> at = {rows};
    CHECK(plan.kernels[0].bytes.evaluate(at, plan.kernels[0].values).value() == 2 * 4 * 64 * rows);
  }
}

TEST_CASE("the tiles of a launch follow its variables") {
  Model model = modelOf("var n in [0, 4096]\ninput x: f32[n, 4096]\noutput y = tanh(x)\n");
  const Plan plan = planOf(model);
  REQUIRE(plan.kernels.size() == 1);
  const auto tiles = [&](int64_t n) {
    const std::vector<int64_t> at = {n};
    return plan.kernels[0].tiles.evaluate(at, plan.kernels[0].values).value();
  };
  CHECK(tiles(0) == 0);
  CHECK(tiles(1) > 0);
  CHECK(tiles(4096) > 64 * tiles(1));
  for (int64_t n = 1; n < 4096; n += 7) CHECK(tiles(n) <= tiles(n + 1));
}
