// The C++ interface for states, temporaries, loops and branches.
#include <catch2/catch.hpp>

#include "frontend/builder.h"
#include "interp/interp.h"
#include "ir/verify.h"

using namespace svod;

namespace {

/// The first output of the finished builder as numbers, states as they start. `x` is the input, if there is one.
std::vector<double> outputOf(GraphBuilder& b, std::initializer_list<double> x = {}, VariableValues variables = {}) {
  Result<Model> model = b.finish();
  if (!model) FAIL(toText(model.error()));
  if (Status legal = verify(model->sink, Stage::Tensor); !legal) FAIL(toText(legal.error()));
  ModelBindings bindings;
  bindings.variables = std::move(variables);
  for (const ModelPort& port : model->ports)
    bindings.ports.push_back(port.kind != PortKind::Input
                                 ? HostTensor()
                                 : HostTensor::of(port.buffer.dtype(), {static_cast<int64_t>(x.size())}, x));
  auto values = interpret(*model, bindings);
  if (!values) FAIL(toText(values.error()));
  std::vector<double> numbers;
  for (size_t i = 0; i < model->ports.size(); ++i)
    if (model->ports[i].kind == PortKind::Output && numbers.empty())
      for (int64_t e = 0; e < (*values)[i].numel(); ++e) {
        const Scalar s = (*values)[i].at(e);
        numbers.push_back(isFloat(s.dtype()) ? s.asFloat() : static_cast<double>(s.asInt()));
      }
  return numbers;
}

Diag errorOf(GraphBuilder& b) {
  auto error = b.takeError();
  REQUIRE(error);
  return (*error)->diag;
}

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("a loop assigns a temporary in every iteration") {
  GraphBuilder b;
  Tensor x = b.input("x", DType::F32, b.dims({2}));
  Tensor acc = b.temporary(x);
  b.loop("i", b.dim(3), [&](Dim i) { b.assign(acc, acc * 2.0 + cast(b.value(i), DType::F32)); });
  b.output("y", acc);
  CHECK(outputOf(b, {1, 2}) == Numbers{12, 20});
}

TEST_CASE("a loop in two calls is the loop in one") {
  GraphBuilder one, two;
  Tensor a = one.state("s", DType::I32, one.dims({})), c = two.state("s", DType::I32, two.dims({}));
  one.loop("i", one.dim(4), [&](Dim i) { one.assign(a, a + cast(one.value(i), DType::I32)); });
  Dim i = two.beginLoop("i", two.dim(4), {});
  REQUIRE(i);
  two.assign(c, c + cast(two.value(i), DType::I32));
  two.endLoop();
  one.output("y", a), two.output("y", c);
  Result<Model> first = one.finish(), second = two.finish();
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->sink.hash() == second->sink.hash());
}

TEST_CASE("inner loops know the counters around them, and counts that could be negative are 0") {
  GraphBuilder b;
  Dim n = b.variable("n", 0, 5);
  Tensor sum = b.temporary(b.constant(Scalar::ofInt(DType::I64, 0)));
  b.loop("i", n - 2, [&](Dim i) {
    b.loop("j", i + 1, [&](Dim j) { b.assign(sum, sum * 10 + cast(b.value(i * 3 + j), DType::I64)); });
  });
  b.output("y", sum);
  SECTION("three iterations") { CHECK(outputOf(b, {}, {{"n", 5}}) == Numbers{34678}); }
  SECTION("none") { CHECK(outputOf(b, {}, {{"n", 1}}) == Numbers{0}); }
}

TEST_CASE("a condition ends a loop before the iteration for which it is false") {
  GraphBuilder b;
  Tensor x = b.temporary(b.constant(Scalar::ofInt(DType::I32, 1)));
  GraphBuilder::LoopOptions options;
  options.condition = [&] { return lt(x, 100); };
  b.loop("i", b.dim(50), [&](Dim) { b.assign(x, x * 3); }, options);
  b.output("y", x);
  CHECK(outputOf(b) == Numbers{243});
}

TEST_CASE("a branch does one of two things, by the condition as it was before") {
  for (double start : {1.0, -1.0}) {
    GraphBuilder b;
    Tensor x = b.input("x", DType::F32, b.dims({1})), t = b.temporary(x);
    b.branch(lt(b.op("sum", {t}), 0.0), [&] { b.assign(t, t * -10.0); }, [&] { b.assign(t, t + 5.0); });
    b.output("y", t);
    CHECK(outputOf(b, {start}) == Numbers{start < 0 ? 10.0 : 6.0});
  }
}

TEST_CASE("parts are assigned, and a temporary of another shape is filled") {
  GraphBuilder b;
  Tensor t = b.temporary(DType::I32, b.dims({4}), b.literal(int64_t{7}));
  b.loop("i", b.dim(2), [&](Dim i) {
    Tensor part = shrink(t, Dims{i}, b.dims({2}));
    b.assign(part, cast(b.value(i), DType::I32));
  });
  b.output("y", t);
  CHECK(outputOf(b) == Numbers{0, 1, 1, 7});
}

TEST_CASE("what an unrolled loop computes is no loop any more") {
  GraphBuilder b;
  Tensor t = b.temporary(b.constant(Scalar::ofInt(DType::I32, 2)));
  GraphBuilder::LoopOptions options;
  options.unroll = true;
  b.loop("i", b.dim(3), [&](Dim) { b.assign(t, t * t); }, options);
  b.output("y", t);
  CHECK(outputOf(b) == Numbers{256});
}

TEST_CASE("counters get names of their own") {
  GraphBuilder b;
  b.variable("i", 0, 3);
  Tensor s = b.state("s", DType::I32, b.dims({}));
  b.loop("i", b.dim(2), [&](Dim) { b.loop("i", b.dim(2), [&](Dim) { b.assign(s, s + 1); }); });
  CHECK(b.model().loops == std::vector<std::string>{"i.1", "i.2"});
}

TEST_CASE("a loop that assigns nothing is none") {
  GraphBuilder b;
  Tensor x = b.input("x", DType::F32, b.dims({1}));
  b.loop("i", b.dim(2), [&](Dim) { x * 2.0; });
  b.output("y", x);
  CHECK(outputOf(b, {3}) == Numbers{3});
}

TEST_CASE("errors of loops") {
  GraphBuilder b;
  Dim n = b.variable("n", 0, 5);
  Tensor x = b.input("x", DType::F32, b.dims({2})), t = b.temporary(x), escaped;
  SECTION("a value used outside of its loop") {
    b.loop("i", b.dim(2), [&](Dim i) { escaped = x * cast(b.value(i), DType::F32); });
    b.output("y", escaped);
    CHECK(errorOf(b) == Diag::UnknownName);
  }
  SECTION("assigned outside of its loop") {
    b.loop("i", b.dim(2), [&](Dim i) { escaped = x * cast(b.value(i), DType::F32); });
    b.assign(t, escaped);
    CHECK(errorOf(b) == Diag::UnknownName);
  }
  SECTION("unrolling an unknown count") {
    CHECK_FALSE(b.beginLoop("i", n, {true, {}}));
    CHECK(errorOf(b) == Diag::BadAttribute);
  }
  SECTION("a condition that is no bool scalar") {
    b.branch(x, [] { FAIL("a branch was begun"); });
    CHECK(errorOf(b) == Diag::DTypeMismatch);
    GraphBuilder::LoopOptions options;
    options.condition = [&] { return lt(x, 0.0); };
    CHECK_FALSE(b.beginLoop("i", n, options));
    CHECK(errorOf(b) == Diag::DTypeMismatch);
  }
  SECTION("targets") {
    b.assign(x, t);
    CHECK(errorOf(b) == Diag::UnknownPort);
    b.assign(t * 2.0, x);
    CHECK(errorOf(b) == Diag::UnknownPort);
    b.assign(t, cast(x, DType::I32));
    CHECK(errorOf(b) == Diag::DTypeMismatch);
  }
  SECTION("after an error nothing is begun") {
    b.assign(x, t);
    CHECK_FALSE(b.beginLoop("i", n, {}));
    b.branch(lt(b.op("sum", {x}), 0.0), [] { FAIL("a branch was begun"); });
    b.endLoop();
    CHECK(errorOf(b) == Diag::UnknownPort);
  }
}
