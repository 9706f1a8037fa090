#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "common/graphs.h"
#include "e2e/harness.h"
#include "plan/json.h"
#include "svod/runtime.h"

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
  auto compiled = compile(m.model, compileOptions({}));
  REQUIRE(compiled);
  const auto isCopy = [](const Step& step) { return std::holds_alternative<Copy>(step.action); };
  CHECK(std::ranges::any_of((*compiled)->plan.steps, isCopy));
}

TEST_CASE("the kernels of one plan run in four instances at once") {
  constexpr int64_t kRows = 48, kTerms = 33;
  GraphMaker m;
  UOp x = m.input("x", {kRows, kTerms}), w = m.input("w", {kTerms, kRows});
  m.output("y", m.softmax(m.matmul(x, w, kRows, kRows, kTerms), kRows, kRows));  // keeps sums and rows to itself
  RunOptions options;
  options.target = testTargets().back();
  auto compiled = compile(m.model, compileOptions(options));
  REQUIRE(compiled);
  PlanImage image = planImage(**compiled);
  const std::string manifest = toJson(image.plan);
  std::vector<svod_file> files = {{"plan.json", manifest.data(), manifest.size()}};
  for (FileId i = 0; i < image.contents.size(); ++i)
    files.push_back({image.plan.files[i].path.c_str(), image.contents[i].data(), image.contents[i].size()});
  svod_plan* plan = nullptr;
  REQUIRE(svod_plan_load_memory(files.data(), files.size(), nullptr, &plan, nullptr) == 0);
  using Floats = std::vector<float>;
  const auto results = [&](int which, int runs) {  // of a new instance, run after run; empty: a call failed
    std::vector<Floats> all;
    svod_instance* instance = nullptr;
    if (svod_instance_create(plan, nullptr, &instance, nullptr) != 0) return all;
    Floats a(kRows * kTerms), b(kTerms * kRows), y(kRows * kRows);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>((static_cast<int>(i) * 7 + which * 5) % 19 - 9) / 8;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>((static_cast<int>(i) * 3 + which) % 23 - 11) / 16;
    const uint64_t left[] = {kRows, kTerms}, right[] = {kTerms, kRows};
    svod_bind_input(instance, svod_plan_find(plan, SVOD_INPUT, "x"), nullptr, left, 2, a.data(), nullptr);
    svod_bind_input(instance, svod_plan_find(plan, SVOD_INPUT, "w"), nullptr, right, 2, b.data(), nullptr);
    svod_bind_output(instance, 0, y.data(), y.size() * sizeof(float), nullptr);
    for (int run = 0; run < runs; ++run) {
      std::fill(y.begin(), y.end(), -1.0F);
      if (svod_execute(instance, nullptr, nullptr) == 0) all.push_back(y);
    }
    svod_instance_free(instance);
    return all;
  };
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    const std::vector<Floats> alone = results(t, 1);
    REQUIRE(alone.size() == 1);
    threads.emplace_back([&, t, expected = alone[0]] {
      const std::vector<Floats> together = results(t, 200);
      wrong += static_cast<int>(200 - together.size()) +
               static_cast<int>(std::ranges::count_if(together, [&](const Floats& y) { return y != expected; }));
    });
  }
  for (std::thread& thread : threads) thread.join();
  svod_plan_free(plan);
  CHECK(wrong == 0);
}
