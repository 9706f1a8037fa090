// Parts that variables carry beyond their tensor, against what the language says of them, and sizes that can only be 0.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

HostTensor numbers(std::vector<int64_t> values) {
  HostTensor t = HostTensor::zeros(DType::I32, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) t.set(static_cast<int64_t>(i), Scalar::ofInt(DType::I32, values[i]));
  return t;
}

/// What the interpreter and the plans of both levels leave in the results of a graph over the input x = [10, 20, 30].
void checkResults(const std::string& text, int64_t i, const std::vector<HostTensor>& wanted) {
  INFO(text << "i = " << i);
  Model model = modelOf(text);
  ModelBindings bindings = bindingsOf(model, i);
  for (size_t k = 0; k < model.ports.size(); ++k)
    if (model.ports[k].kind == PortKind::Input) bindings.ports[k] = numbers({10, 20, 30});
  auto check = [&](const char* who, const Result<std::vector<HostTensor>>& got) {
    INFO(who);
    if (!got) FAIL(toText(got.error()));
    size_t next = 0;
    for (size_t k = 0; k < model.ports.size(); ++k)
      if (isResult(model.ports[k])) CHECK(difference(wanted.at(next++), (*got)[k], 0) == "");
  };
  check("interpreter", interpret(model, bindings));
  for (int level : {0, 1}) {
    RunOptions options;
    options.optLevel = level;
    check(level == 0 ? "-O0" : "-O1", runPlan(model, bindings, options));
  }
}

/// x from `offset` on, `length` elements; 0 where x has none.
std::vector<int64_t> partOf(const std::vector<int64_t>& x, int64_t offset, int64_t length) {
  std::vector<int64_t> part;
  for (int64_t k = offset; k < offset + length; ++k)
    part.push_back(k < static_cast<int64_t>(x.size()) ? x[static_cast<size_t>(k)] : 0);
  return part;
}

}  // namespace

TEST_CASE("a part keeps its offset whatever its length; beyond the tensor it reads 0 and stores nothing") {
  const std::vector<int64_t> x = {10, 20, 30};
  for (int64_t length : {1, 2, 3})
    for (int64_t i : {0, 1, 3}) {
      const std::string part = ", starts=[i], ends=[i + " + std::to_string(length) + "])";
      std::vector<int64_t> state(3, 0);
      for (int64_t k = 0; k < length && i + k < 3; ++k) state[static_cast<size_t>(i + k)] = x[static_cast<size_t>(k)];
      checkResults("var i in [0, 3]\ninput x: i32[3]\nstate s: i32[3] = 0\nassign slice(s" + part +
                       " = slice(x, ends=[" + std::to_string(length) + "], starts=[0])\noutput s\noutput r = slice(x" +
                       part + "\n",
                   i, {numbers(state), numbers(state), numbers(partOf(x, i, length))});
    }
}

TEST_CASE("a counter that carries a part beyond its tensor stores what is inside") {
  checkResults(
      "input x: i32[3]\nstate s: i32[3] = 0\nloop i < 4 {\n"
      "  assign slice(s, starts=[i], ends=[i + 2]) = slice(x, starts=[0], ends=[2])\n}\noutput s\n",
      0, {numbers({10, 10, 10}), numbers({10, 10, 10})});
}

// Between guard pages: where one of these ran its body once, a page that faults was touched.
TEST_CASE("work over a size that can only be 0 is no work") {
  const char* const kOps[] = {"full(1.5, shape=[D, 40]) + 1",
                              "x * 2",
                              "sum(x * 2, axes=0)",
                              "reduce_max(x, axes=1)",
                              "cumsum(x, axis=0)",
                              "softmax(x)",
                              "matmul(x, w)",
                              "concat(x, x + 1, axis=0)",
                              "pad(x, before=[1, 0], after=[0, 1])",
                              "reshape(x, shape=[D * 40]) + 1",
                              "permute(x, order=[1, 0]) * 2",
                              "flip(x, axes=[0])",
                              "expand(sum(x), shape=[3, D])",
                              "cast(x, dtype=i32)"};
  for (const char* dim : {"n // 8", "n % 1", "n // 8 * m", "m - m % 8 - m // 8 * 8"})
    for (std::string op : kOps) {
      for (size_t at; (at = op.find('D')) != std::string::npos;) op.replace(at, 1, "(" + std::string(dim) + ")");
      const std::string text = "var n in [0, 7]\nvar m in [0, 7]\ninput x: f32[" + std::string(dim) +
                               ", 40]\nweight w: f32[40, 17] = 0.5\ninput z: f32[n, m]\n"
                               "output o = z + 1\noutput y = " +
                               op + "\n";
      for (int level : {0, 1}) {
        RunOptions options;
        options.optLevel = level;
        for (int64_t n : {0, 7}) checkBetweenGuards(text, n, options);
      }
    }
}

// Neither the place nor the value of these updates depends on the loop that may not run.
TEST_CASE("no update of a scatter without updates happens") {
  for (const char* mode : {"set", "add"})
    for (const char* dims : {"[n]", "[n, 3]"})
      for (int64_t n : {0, 1, 2})
        checkBetweenGuards(
            "var n in [0, 2]\ninput x: i32[4]\ninput v: i32\n"
            "output y = scatter_at(x, expand(cast(v, dtype=i64) * 0 + 1, shape=" +
                std::string(dims) + "), expand(v + 5, shape=" + dims + "), mode=" + mode + ")\n",
            n);
}

TEST_CASE("indices at the ends of i64 are outside of an axis whose size has a difference in it") {
  for (const char* size : {"13 - n", "14 - 2 * n", "3 * n + 4 - n * n"})
    for (const char* end : {"9223372036854775807", "9223372036854775804", "-9223372036854775807"})
      for (const char* mode : {"set", "add", "min"})
        for (int64_t n : {0, 1, 3})
          checkBetweenGuards("var n in [0, 3]\ninput x: f32[" + std::string(size) +
                                 "]\ninput i: i64[6]\n"
                                 "at = pad(-i, before=[0], after=[5], value=" +
                                 end + ")\noutput y = scatter_at(x, at, cast(at, dtype=f32), mode=" + mode +
                                 ")\noutput z = gather_at(x, at)\n"
                                 "wrapped = where(lt(at, 0), at + " +
                                 size +
                                 ", at)\noutput w = gather_at(x, wrapped)\noutput v = scatter_at(x, wrapped, cast(at, "
                                 "dtype=f32), mode=" +
                                 mode + ")\n",
                             n);
}

TEST_CASE("elements that share bytes of a tensor that may be empty are not read when it is") {
  for (const char* type : {"u2", "i4", "f4e2m1"})
    for (const char* dim : {"n", "2 * n", "n // 2"})
      for (const char* op : {"cast(x, dtype=f32)", "cast(x, dtype=u8)", "sum(cast(x, dtype=f32))", "flip(x, axes=[0])"})
        for (int64_t n : {0, 1})
          checkBetweenGuards(
              "var n in [0, 1]\ninput x: " + std::string(type) + "[" + dim + "]\noutput y = " + op + "\n", n);
}

TEST_CASE("a bool that passes through a dtype without 0 becomes true") {
  checkBetweenGuards("input x: bool[9]\noutput y = cast(cast(x, dtype=f8e8m0), dtype=bool)\n", 0);
}

// Their factors are -1 and a quotient below zero, and guards ask whether the product is positive.
TEST_CASE("tensors are read whatever the signs of the factors of their sizes") {
  for (const char* dim : {"(m - n)//2", "(m - n)//2 * n", "2*(m - n)//3", "m - n", "(9 - n)//2", "(m - n)*(m - n)",
                          "(n - m)*(n - m)//2", "max((m - n)//2, n - 2)", "-((n - m)//2)"})
    for (const char* op : {"x + 1", "sum(x)", "x[::-1] * 2", "concat(x, x, axis=0)", "expand(sum(x) + 1, shape=[3])"})
      for (auto [n, m] : {std::pair<int64_t, int64_t>{4, 4}, {1, 4}, {1, 9}, {2, 7}}) {
        Model model = modelOf("var n in [1, 4]\nvar m in [4, 9]\ninput x: f32[" + std::string(dim) +
                              "]\ninput a: i8[n]\ninput b: i8[m]\noutput y = " + op + "\n");
        INFO(dim << ", " << op << ", n = " << n << ", m = " << m);
        ModelBindings bindings = bindingsOf(model, 4);
        bindings.variables = {{"n", n}, {"m", m}};
        const auto value = [&](UOp leaf) -> std::optional<Scalar> {
          return Scalar::ofInt(leaf.dtype(), leaf.argAs<VarArg>().name == "n" ? n : m);
        };
        const int64_t size = evaluate(model.ports[0].buffer.src(0), value)->asInt();
        bindings.ports[0] = randomTensor(DType::F32, {size}, 3, false);
        bindings.ports[1] = HostTensor::zeros(DType::I8, {n}), bindings.ports[2] = HostTensor::zeros(DType::I8, {m});
        auto expected = interpret(model, bindings);
        if (!expected) FAIL(toText(expected.error()));
        for (Watch watch : {Watch::Start, Watch::End}) {
          RunOptions options;
          options.execute.watch = watch;
          auto actual = runPlan(model, bindings, options);
          if (!actual) FAIL(toText(actual.error()));
          checkEqual(model, *expected, *actual);
        }
      }
}

TEST_CASE("graphs of which generators found that they were wrong or refused are right") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/e2e/found")) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& path : files) {
    INFO(path.string());
    const Result<GraphFile> file = readGraphFile(path.string());
    if (!file) FAIL(toText(file.error()));
    LoadOptions load;
    load.devices = {"d0"};
    Result<Model> model = buildModel(*file, load);
    if (!model) FAIL(toText(model.error()));
    RandomOptions moderate;
    moderate.contract = moderate.edges = true;
    for (uint64_t seed = 0; seed < 6; ++seed) {
      const ModelBindings bindings = randomBindings(*model, seed, moderate);
      auto expected = interpret(*model, bindings);
      if (!expected) FAIL(toText(expected.error()));
      auto actual = runPlan(*model, bindings, RunOptions{});
      if (!actual) FAIL(toText(actual.error()));
      checkEqual(*model, *expected, *actual);
    }
  }
}
