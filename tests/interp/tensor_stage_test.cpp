// The tensor-stage interpreter against results worked out by hand.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <limits>

#include "interp/interp.h"
#include "ir/text.h"
#include "ir/verify.h"

using namespace svod;

namespace {

// A model whose buffers are ports in slot order: those stored to are outputs, or states when named in `states`.
Model modelOf(std::string_view text, std::vector<uint32_t> states = {}) {
  Model model;
  Result<UOp> root = parseUop(*model.graph, text);
  if (!root) FAIL(toText(root.error()));
  model.sink = *root;
  Status legal = verify(*root, Stage::Tensor);
  if (!legal) FAIL(toText(legal.error()));
  for (UOp n : toposort(*root)) {
    if (n.op() == Op::Var) model.variables.push_back(n);
    if (n.op() != Op::Buffer) continue;
    uint32_t slot = n.argAs<SlotArg>().slot;
    if (model.ports.size() <= slot) model.ports.resize(slot + 1);
    bool state = std::find(states.begin(), states.end(), slot) != states.end();
    model.ports[slot] = {state ? PortKind::State : PortKind::Input, "p" + std::to_string(slot), n, {}};
  }
  for (UOp store : root->src())
    if (ModelPort& port = model.ports[store.src(0).op() == Op::Buffer ? store.src(0).argAs<SlotArg>().slot : 0];
        store.src(0).op() == Op::Buffer && port.kind == PortKind::Input)
      port.kind = PortKind::Output;
  return model;
}

std::vector<HostTensor> run(const Model& model, const ModelBindings& bindings) {
  Result<std::vector<HostTensor>> out = interpret(model, bindings);
  if (!out) FAIL(toText(out.error()));
  return *out;
}

void checkValues(const HostTensor& got, std::vector<int64_t> dims, std::vector<double> want) {
  CHECK(got.dims == dims);
  REQUIRE(static_cast<size_t>(got.numel()) == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    Scalar s = got.at(static_cast<int64_t>(i));
    CHECK((isFloat(got.dtype) ? s.asFloat() : static_cast<double>(s.asInt())) == want[i]);
  }
}

}  // namespace

TEST_CASE("movement ops, a reduction and broadcasting") {
  Model m = modelOf(R"(%0 = buffer 2, 3 {0} : i32[2,3]
%1 = permute %0 {1, 0} : i32[3,2]
%2 = flip %1 {0} : i32[3,2]
%3 = pad %2, 9:i32, 1, 0, 0, 1 : i32[4,3]
%4 = shrink %3, 1, 1, 3, 2 : i32[3,2]
%5 = reshape %4, 2, 3 : i32[2,3]
%6 = add %5, 100:i32 : i32[2,3]
%7 = buffer 2, 3 {1} : i32[2,3]
%8 = store %7, %6
%9 = reduce %0 {max, 0} : i32[3]
%10 = reshape %9, 1, 3 : i32[1,3]
%11 = expand %10, 2, 3 : i32[2,3]
%12 = buffer 2, 3 {2} : i32[2,3]
%13 = store %12, %11
%14 = sink %8, %13)");
  std::vector<HostTensor> out =
      run(m, {.ports = {HostTensor::of(DType::I32, {2, 3}, {1, 2, 3, 4, 5, 6})}, .variables = {}, .functions = {}});
  checkValues(out[1], {2, 3}, {106, 109, 105, 109, 104, 109});
  checkValues(out[2], {2, 3}, {4, 5, 6, 4, 5, 6});
}

TEST_CASE("float sums round after every addition, in row-major order, or once where that is asked for") {
  Model m = modelOf(R"(%0 = buffer 4 {0} : f32[4]
%1 = reduce %0 {add, 0} : f32
%2 = buffer {1} : f32
%3 = store %2, %1
%4 = sink %3)");
  ModelBindings bindings{
      .ports = {HostTensor::of(DType::F32, {4}, {16777216, 1, 1, -16777216})}, .variables = {}, .functions = {}};
  checkValues(run(m, bindings)[1], {}, {0});
  bindings.areSumsRoundedOnce = true;
  checkValues(run(m, bindings)[1], {}, {2});
}

TEST_CASE("sums and products of floats are those of scalars, of every kind of number") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> kinds{0.0,   -0.0, 1e-45, -3e-39,       16777217.0, 3e38,
                                  -3e38, inf,  -inf,  std::nan(""), 0.1,        -7.5};
  const auto count = static_cast<int64_t>(kinds.size());
  ModelBindings bindings;
  HostTensor a = HostTensor::zeros(DType::F32, {count, count}), b = a;
  for (int64_t i = 0; i < count * count; ++i) {
    a.set(i, Scalar::ofFloat(DType::F32, kinds[static_cast<size_t>(i / count)]));
    b.set(i, Scalar::ofFloat(DType::F32, kinds[static_cast<size_t>(i % count)]));
  }
  bindings.ports = {a, b};
  for (const auto& [op, name] : {std::pair(Op::Add, "add"), std::pair(Op::Mul, "mul")}) {
    const Model m =
        modelOf("%0 = buffer 12, 12 {0} : f32[12,12]\n%1 = buffer 12, 12 {1} : f32[12,12]\n%2 = " + std::string(name) +
                " %0, %1 : f32[12,12]\n%3 = permute %2 {1, 0} : f32[12,12]\n"
                "%4 = reduce %3 {add, 0} : f32[12]\n%5 = buffer 12, 12 {2} : f32[12,12]\n"
                "%6 = store %5, %2\n%7 = buffer 12 {3} : f32[12]\n%8 = store %7, %4\n%9 = sink %6, %8\n");
    const std::vector<HostTensor> out = run(m, bindings);
    for (int64_t row = 0; row < count; ++row) {
      Scalar sum = Scalar::of(DType::F32, 0);
      for (int64_t i = row * count; i < (row + 1) * count; ++i) {
        const Scalar value = evalScalar(op, DType::F32, std::vector<Scalar>{a.at(i), b.at(i)});
        CHECK(out[2].at(i).storageBits() == value.storageBits());
        sum = evalScalar(Op::Add, DType::F32, std::vector<Scalar>{sum, value});
      }
      CHECK(out[3].at(row).storageBits() == sum.storageBits());
    }
  }
}

TEST_CASE("reductions of zero elements give the identity") {
  Model m = modelOf(R"(%0 = buffer 0, 2 {0} : f32[0,2]
%1 = reduce %0 {max, 0} : f32[2]
%2 = buffer 2 {1} : f32[2]
%3 = store %2, %1
%4 = sink %3)");
  std::vector<HostTensor> out =
      run(m, {.ports = {HostTensor::zeros(DType::F32, {0, 2})}, .variables = {}, .functions = {}});
  checkValues(out[1], {2}, {-INFINITY, -INFINITY});
}

TEST_CASE("gather reads 0 outside, scatter drops what is outside and keeps order") {
  Model m = modelOf(R"(%0 = buffer 3, 2 {0} : f32[3,2]
%1 = buffer 4 {1} : i64[4]
%2 = buffer 4 {2} : i32[4]
%3 = gather %0, %1, %2 : f32[4]
%4 = buffer 4 {3} : f32[4]
%5 = store %4, %3
%6 = iota 4 : i32[4]
%7 = cast %6 : f32[4]
%8 = scatter %0, %1, %2, %7 {store} : f32[3,2]
%9 = buffer 3, 2 {4} : f32[3,2]
%10 = store %9, %8
%11 = scatter %0, %1, %2, %7 {add} : f32[3,2]
%12 = buffer 3, 2 {5} : f32[3,2]
%13 = store %12, %11
%14 = sink %5, %10, %13)");
  std::vector<HostTensor> out =
      run(m, {.ports = {HostTensor::of(DType::F32, {3, 2}, {1, 2, 3, 4, 5, 6}),
                        HostTensor::of(DType::I64, {4}, {2, -1, 2, 0}), HostTensor::of(DType::I32, {4}, {1, 0, 1, 2})},
              .variables = {},
              .functions = {}});
  checkValues(out[3], {4}, {6, 0, 6, 0});
  checkValues(out[4], {3, 2}, {1, 2, 3, 4, 5, 2});
  checkValues(out[5], {3, 2}, {1, 2, 3, 4, 5, 8});
}

TEST_CASE("updates that are called distinct and meet are refused, with their place") {
  Model m = modelOf(R"(%0 = buffer 3, 2 {0} : f32[3,2]
%1 = buffer 4 {1} : i64[4]
%2 = buffer 4 {2} : i64[4]
%3 = buffer 4 {3} : f32[4]
%4 = scatter %0, %1, %2, %3 {add, 0} : f32[3,2]
%5 = buffer 3, 2 {4} : f32[3,2]
%6 = store %5, %4
%7 = sink %6)");
  ModelBindings b{
      .ports = {HostTensor::of(DType::F32, {3, 2}, {1, 2, 3, 4, 5, 6}), HostTensor::of(DType::I64, {4}, {2, 0, -1, -1}),
                HostTensor::of(DType::I64, {4}, {1, 1, 0, 0}),  // two of them nowhere
                HostTensor::of(DType::F32, {4}, {10, 20, 30, 40})},
      .variables = {},
      .functions = {}};
  checkValues(run(m, b)[4], {3, 2}, {1, 22, 3, 4, 5, 16});
  b.ports[1] = HostTensor::of(DType::I64, {4}, {2, 0, 1, 2}),
  b.ports[2] = HostTensor::of(DType::I64, {4}, {1, 0, 0, 1});
  const Error error = interpret(m, b).error();
  CHECK(error->diag == Diag::InputMismatch);
  CHECK(error->message.find("element [2, 1]") != std::string::npos);
  b.areArbitrary = true;
  checkValues(run(m, b)[4], {3, 2}, {21, 2, 33, 4, 5, 56});
}

TEST_CASE("states: plain reads see the old value, reads after a store the new one, views update in part") {
  Model m = modelOf(R"(%0 = buffer 4 {0} : i32[4]
%1 = add %0, 1:i32 : i32[4]
%2 = store %0, %1
%3 = after %0, %2 : i32[4]
%4 = shrink %3, 1, 2 : i32[2]
%5 = store %4, 50:i32
%6 = after %3, %5 : i32[4]
%7 = buffer 4 {1} : i32[4]
%8 = store %7, %0
%9 = buffer 4 {2} : i32[4]
%10 = store %9, %3
%11 = buffer 4 {3} : i32[4]
%12 = store %11, %6
%13 = sink %2, %5, %8, %10, %12)",
                    {0});
  ModelBindings bindings{{HostTensor::of(DType::I32, {4}, {1, 2, 3, 4})}, {}, {}};
  std::vector<HostTensor> out = run(m, bindings);
  checkValues(out[1], {4}, {1, 2, 3, 4});
  checkValues(out[2], {4}, {2, 3, 4, 5});
  checkValues(out[3], {4}, {2, 50, 50, 5});
  checkValues(out[0], {4}, {2, 50, 50, 5});
  bindings.ports = {out[0]};
  checkValues(run(m, bindings)[0], {4}, {3, 50, 50, 6});
  bindings.ports = {};
  checkValues(run(m, bindings)[0], {4}, {1, 50, 50, 1});  // an unbound state starts at zero
}

TEST_CASE("symbolic dims follow the variables") {
  Model m = modelOf(R"(%0 = var {"n", 0, 8} : index
%1 = buffer %0, 2 {0} : f32[n,2]
%2 = mul %0, 2 : index
%3 = reshape %1, %2 : f32[n*2]
%4 = cast %0 : f32
%5 = mul %3, %4 : f32[n*2]
%6 = buffer %2 {1} : f32[n*2]
%7 = store %6, %5
%8 = sink %7)");
  std::vector<HostTensor> out = run(m, {{HostTensor::of(DType::F32, {2, 2}, {1, 2, 3, 4})}, {{"n", 2}}, {}});
  checkValues(out[1], {4}, {2, 4, 6, 8});
  CHECK(run(m, {{HostTensor::zeros(DType::F32, {0, 2})}, {{"n", 0}}, {}})[1].numel() == 0);
  CHECK(interpret(m, {{HostTensor::zeros(DType::F32, {2, 2})}, {}, {}}).error()->diag == Diag::VariableBounds);
  CHECK(interpret(m, {{HostTensor::zeros(DType::F32, {3, 2})}, {{"n", 2}}, {}}).error()->diag == Diag::InputMismatch);
  CHECK(interpret(m, {{}, {{"n", 2}}, {}}).error()->diag == Diag::MissingInput);
}

TEST_CASE("host functions are called and their results checked") {
  Model m = modelOf(R"(%0 = buffer 2 {0} : f32[2]
%1 = custom %0, 3 {"grow", 1} : f32[3]
%2 = buffer 3 {1} : f32[3]
%3 = store %2, %1
%4 = sink %3)");
  ModelBindings bindings{{HostTensor::of(DType::F32, {2}, {1, 2})}, {}, {}};
  CHECK(interpret(m, bindings).error()->diag == Diag::MissingInput);
  bindings.functions["grow"] = [](std::span<const HostTensor> in, DType dtype,
                                  std::span<const int64_t> dims) -> Result<HostTensor> {
    HostTensor out = HostTensor::zeros(dtype, {dims.begin(), dims.end()});
    for (int64_t i = 0; i < in[0].numel(); ++i) out.set(i, in[0].at(i));
    return out;
  };
  checkValues(run(m, bindings)[1], {3}, {1, 2, 0});
  bindings.functions["grow"] = [](std::span<const HostTensor> in, DType,
                                  std::span<const int64_t>) -> Result<HostTensor> { return in[0]; };
  CHECK(interpret(m, bindings).error()->diag == Diag::DeviceFailure);
}

TEST_CASE("a 64 x 64 x 64 matrix product takes well under a second") {
  Model m = modelOf(R"(%0 = buffer 64, 64 {0} : f32[64,64]
%1 = reshape %0, 64, 64, 1 : f32[64,64,1]
%2 = expand %1, 64, 64, 64 : f32[64,64,64]
%3 = buffer 64, 64 {1} : f32[64,64]
%4 = reshape %3, 1, 64, 64 : f32[1,64,64]
%5 = expand %4, 64, 64, 64 : f32[64,64,64]
%6 = mul %2, %5 : f32[64,64,64]
%7 = reduce %6 {add, 1} : f32[64,64]
%8 = buffer 64, 64 {2} : f32[64,64]
%9 = store %8, %7
%10 = sink %9)");
  HostTensor a = HostTensor::zeros(DType::F32, {64, 64}), b = a;
  for (int64_t i = 0; i < 4096; ++i) {
    a.set(i, Scalar::ofFloat(DType::F32, static_cast<double>(i % 7)));
    b.set(i, Scalar::ofFloat(DType::F32, static_cast<double>(i % 5)));
  }
  auto begin = std::chrono::steady_clock::now();
  std::vector<HostTensor> out = run(m, {{a, b}, {}, {}});
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  INFO("64^3 product: " << spent.count() << " s");
  double want = 0;
  for (int64_t k = 0; k < 64; ++k) want += static_cast<double>((3 * 64 + k) % 7 * ((k * 64 + 5) % 5));
  CHECK(out[2].at(3 * 64 + 5).asFloat() == want);
  CHECK(spent.count() < 5);  // generous: sanitizers and busy machines
}
