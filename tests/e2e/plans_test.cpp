#include <catch2/catch.hpp>

#include "common/graphs.h"
#include "e2e/harness.h"

using namespace svod;

namespace {

ModelBindings ramps(const Model& model) {
  ModelBindings bindings;
  for (const ModelPort& p : model.ports) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < p.buffer.rank(); ++i) dims.push_back(p.buffer.dim(i));
    HostTensor t = HostTensor::zeros(p.buffer.dtype(), dims);
    for (int64_t i = 0; i < t.numel(); ++i) t.set(i, Scalar::of(t.dtype, static_cast<double>((i * 13) % 17 - 8) / 4));
    bindings.ports.push_back(p.kind == PortKind::Output ? HostTensor{} : t);
  }
  return bindings;
}

void check(Model& model, double tolerance) {
  ModelBindings bindings = ramps(model);
  auto expected = interpret(model, bindings);
  REQUIRE(expected);
  for (const char* target : testTargets())
    for (int level : {0, 1}) {
      RunOptions options;
      options.target = target, options.optLevel = level;
      auto actual = runPlan(model, bindings, options);
      if (!actual) FAIL(toText(actual.error()));
      for (size_t i = 0; i < model.ports.size(); ++i)
        if (model.ports[i].kind == PortKind::Output || model.ports[i].kind == PortKind::State) {
          INFO(target << " -O" << level << " " << model.ports[i].name);
          CHECK(difference((*expected)[i], (*actual)[i], tolerance) == "");
        }
    }
}

}  // namespace

TEST_CASE("softmax") {
  GraphMaker m;
  m.output("y", m.softmax(m.input("x", {37, 53}), 37, 53));
  check(m.model, 1e-6);
}

TEST_CASE("matrix product with an epilogue") {
  GraphMaker m;
  UOp a = m.input("a", {37, 45}), b = m.input("b", {45, 29});
  m.output("y", m.g.alu(Op::Max, {m.matmul(a, b, 37, 29, 45), m.f32(0)}));
  check(m.model, 1e-5);
}

TEST_CASE("states, scatter and copies") {
  GraphMaker m;
  UOp s = m.state("s", {19}), x = m.input("x", {19});
  UOp store = m.store(s, m.g.alu(Op::Add, {s, x}));
  UOp fresh = m.g.make(Op::After, DType::F32, {s, store});
  UOp index = m.input("index", {40}, DType::I32), updates = m.input("u", {40});
  m.output("scattered", m.g.make(Op::Scatter, DType::F32, {fresh, index, updates}, ReduceArg{Op::Max, {}}));
  m.output("same", x);
  check(m.model, 0);
}
