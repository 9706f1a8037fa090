// Graphs with symbolic sizes against the same graphs with these sizes as numbers, at all small values of the variables;
// and sizes that must be equal: proved, refuted, or checked by every run.
#include <catch2/catch.hpp>

#include "frontend/frontend.h"
#include "interp/interp.h"
#include "ir/evaluate.h"

using namespace svod;

namespace {

Result<Model> build(const std::string& text, const LoadOptions& options = {}) {
  Result<GraphFile> file = parseGraph("svod 1\n" + text, "sizes.svod");
  if (!file) return fail(file.error());
  return buildModel(*file, options);
}

int64_t sizeAt(UOp dim, const VariableValues& values) {
  return evaluate(
             dim,
             [&](UOp leaf) {
               return std::optional(Scalar::ofInt(DType::Index, values.at(std::string(leaf.argAs<VarArg>().name))));
             })
      ->asInt();
}

Result<std::vector<HostTensor>> run(const Model& model, const VariableValues& values) {
  ModelBindings bindings;
  bindings.variables = values;
  for (const ModelPort& port : model.ports) {
    bindings.ports.emplace_back();
    if (port.kind != PortKind::Input) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape()) dims.push_back(sizeAt(d, values));
    HostTensor& t = bindings.ports.back() = HostTensor::zeros(port.buffer.dtype(), dims);
    for (int64_t i = 0; i < t.numel(); ++i) t.set(i, Scalar::of(t.dtype, static_cast<double>((i * 37 + 11) % 101)));
  }
  return interpret(model, bindings);
}

void checkOutputs(const Model& symbolic, const Model& fixed, const VariableValues& values) {
  Result<std::vector<HostTensor>> a = run(symbolic, values), b = run(fixed, {});
  if (!a) FAIL(toText(a.error()));
  if (!b) FAIL(toText(b.error()));
  size_t outputs = 0;
  for (size_t i = 0, j = 0; i < symbolic.ports.size(); ++i) {
    if (symbolic.ports[i].kind != PortKind::Output) continue;
    while (fixed.ports[j].kind != PortKind::Output) ++j;
    const HostTensor &x = (*a)[i], &y = (*b)[j++];
    REQUIRE(x.dims == y.dims);
    ++outputs;
    for (int64_t k = 0; k < x.numel(); ++k) REQUIRE(x.at(k) == y.at(k));
  }
  CHECK(outputs > 0);
}

void checkAllSizes(const std::string& text) {
  INFO(text);
  Result<Model> symbolic = build(text);
  if (!symbolic) FAIL(toText(symbolic.error()));
  std::vector<UOp> variables = symbolic->variables;
  REQUIRE(variables.size() <= 2);
  const int64_t second = variables.size() > 1 ? variables[1].bounds().max : 1;
  for (int64_t a = variables[0].bounds().min; a <= variables[0].bounds().max; ++a)
    for (int64_t b = variables.size() > 1 ? variables[1].bounds().min : 1; b <= second; ++b) {
      VariableValues values;
      LoadOptions options;
      for (size_t i = 0; i < variables.size(); ++i) {
        const std::string name(variables[i].argAs<VarArg>().name);
        values[name] = i == 0 ? a : b;
        options.variables.push_back(parseVariableOption(name + "=" + std::to_string(i == 0 ? a : b)).value());
      }
      INFO("at " << a << ", " << b);
      Result<Model> fixed = build(text, options);
      if (!fixed) FAIL(toText(fixed.error()));
      checkOutputs(*symbolic, *fixed, values);
    }
}

constexpr std::string_view kGraphs[] = {
    // a sum of terms divides
    "var p in [1, 9]\ninput x: f32[1, 4, p + 1, 2]\noutput y = reshape(x, shape=[-1, p + 1, 2])\n",
    // equal sizes in other words
    "var n in [1, 3]\nvar h in [1, 9]\ninput x: f32[n, (h-1)//2 + 1, 8]\ny = reshape(x, shape=[n * 2, -1, 4])\n"
    "z = reshape(y, shape=[n, -1, 8])\noutput o = z + x\n",
    "var h in [1, 13]\ninput x: f32[(h - 1)//2//2]\ninput y: f32[(h - 1)//4]\noutput z = x + y\n",
    // halves, which only cases show to be the whole
    "var h in [1, 9]\ninput x: f32[h]\na, b = split(x, sizes=[h//2, (h+1)//2])\noutput y = concat(b, a, axis=0) + x\n",
    // down and up
    "var k in [1, 4]\ninput x: f32[1, 1, 4*k, 4*k]\na = max_pool(x, kernel=[3, 3], stride=[2, 2], padding=[1, 1])\n"
    "b = max_pool(a, kernel=[3, 3], stride=[2, 2], padding=[1, 1])\noutput y = a + resize(b, scale=2)\n",
    // windows of a padded axis
    "var h in [1, 16]\ninput x: f32[h]\n"
    "output y = reshape(pad(x, before=[0], after=[(7 - h % 7) % 7]), shape=[(h + 6)//7, 7])\n",
    // chunks of a sequence
    "var h in [1, 20]\ninput x: f32[h]\n"
    "output y = sum(reshape(pad(x, before=[0], after=[(h + 7)//8*8 - h]), shape=[-1, 8]), axes=1)\n",
    // pixel shuffle and back
    "var h in [1, 3]\nvar w in [1, 3]\ninput x: f32[1, 4, h, w]\n"
    "output y = pixel_unshuffle(pixel_shuffle(x, factor=2), factor=2) + x\n",
    // repetitions
    "var n in [0, 3]\nvar h in [1, 3]\ninput x: f32[h, 2]\noutput y = repeat(x, counts=[n, h])\n",
    // bounds of a slice that count from the end
    "var h in [2, 8]\ninput x: f32[h]\noutput y = slice(x, starts=[0 - h//2])\n"
    "output z = slice(x, starts=[0 - h], ends=[0 - 1])\n",
    // amounts that cut or pad
    "var h in [1, 8]\ninput x: f32[6]\noutput y = pad(x, before=[0], after=[h - 4])\n",
};

}  // namespace

TEST_CASE("graphs with symbolic sizes do what they do with numbers") {
  for (std::string_view text : kGraphs) checkAllSizes(std::string(text));
}

TEST_CASE("sizes that are never equal are refused, and those that are equal for some values unless the graph says so") {
  const std::string inputs = "var n in [1, 8]\nvar m in [1, 8]\ninput x: f32[n]\ninput y: f32[m]\n";
  for (const char* text : {"input z: f32[n + 9]\noutput o = x + z\n", "output o = x + y\n", "output o = matmul(x, y)\n",
                           "output o = reshape(x, shape=[m])\n",
                           "input z: f32[n, 2]\noutput o = concat(z, unsqueeze(y, axes=1), axis=1)\n"}) {
    Result<Model> model = build(inputs + text);
    INFO(text);
    REQUIRE(!model);
    CHECK(model.error()->diag == Diag::ShapeMismatch);
  }
  const std::string equal = inputs + "_ = equal_sizes(a=n, b=m, text=\"the batches\")\n";
  for (const char* text :
       {"output o = x + y\n", "output o = matmul(x, y)\n", "output o = reshape(x, shape=[m]) + y\n",
        "output o = concat(unsqueeze(x, axes=1), unsqueeze(y, axes=1), axis=1)\n", "output o = layer_norm(x, y)\n",
        "output o = group_norm(reshape(x, shape=[1, n, 1]), y, groups=1)\n",
        "output o = conv1d(reshape(x, shape=[1, n, 1]), reshape(y, shape=[1, m, 1]))\n",
        "output o = conv_transpose1d(reshape(x, shape=[1, n, 1]), reshape(y, shape=[m, 1, 1]))\n",
        "output o = scatter_elements(x, cast(x * 0, dtype=i64), y)\n",
        "output o = scatter_nd(x, cast(unsqueeze(x * 0, axes=1), dtype=i64), y)\n"}) {
    INFO(text);
    Result<Model> model = build(equal + text);
    if (!model) FAIL(toText(model.error()));
    CHECK(run(*model, {{"n", 5}, {"m", 5}}));
  }
  Result<Model> model = build(equal + "output o = sum(x) + sum(y)\n");
  REQUIRE(model);
  Result<std::vector<HostTensor>> wrong = run(*model, {{"n", 5}, {"m", 7}});
  REQUIRE(!wrong);
  CHECK(wrong.error()->diag == Diag::InputMismatch);
  CHECK(wrong.error()->message == "the batches: 5 is not 7 with m=7, n=5");
}

TEST_CASE("the first k of an axis that may be shorter: a run of it says so") {
  for (int64_t k : {0, 1, 3, 8})
    for (const char* more : {"", ", largest=false", ", axis=0"}) {
      Result<Model> model = build("var n in [0, 8]\ninput x: f32[n, n]\nv, i = topk(x, k=" + std::to_string(k) + more +
                                  ")\noutput v\noutput i\n");
      INFO(k << more);
      REQUIRE(model);
      for (int64_t n = 0; n <= 8; ++n) {
        Result<std::vector<HostTensor>> ports = run(*model, {{"n", n}});
        CHECK(ports.has_value() == (n >= k));
        if (!ports) CHECK(ports.error()->message.find(": " + std::to_string(n) + " is not ") != std::string::npos);
      }
    }
  for (const char* text : {"input x: f32[2]\nv, i = topk(x, k=3)\noutput v\n",
                           "var n in [1, 2]\ninput x: f32[n]\nv, i = topk(x, k=3)\noutput v\n"}) {
    Result<Model> model = build(text);
    REQUIRE(!model);
    CHECK(model.error()->diag == Diag::ShapeMismatch);
    CHECK(!model.error()->help.empty());
  }
  for (const char* text : {"var n in [1, 8]\ninput x: f32[n]\nv, i = topk(x, k=(n + 1) // 2)\noutput v\n",
                           "var n in [3, 8]\ninput x: f32[n]\nv, i = topk(x, k=3)\noutput v\n"}) {
    Result<Model> model = build(text);
    REQUIRE(model);
    CHECK(model->equalSizes.empty());
  }
}
