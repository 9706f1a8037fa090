// What conversions, comparisons and questions show of a small float is its value, in every mode.
#include <catch2/catch.hpp>
#include <cctype>
#include <cmath>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

// Values of one op that registers may hold with more digits than the dtype has.
constexpr const char* kHeld[] = {"a * b",     "a + b", "a - b", "max(a * b, 0.01)", "where(lt(a, b), a * b, b)",
                                 "neg(a * b)"};

// What shows them.
constexpr const char* kShown[] = {"cast(p, dtype=f32)",
                                  "cast(p, dtype=f64)",
                                  "cast(p, dtype=i32)",
                                  "cast(p, dtype=u8)",
                                  "cast(p, dtype=bool)",
                                  "cast(p, dtype=f8e4m3)",
                                  "gt(p, c)",
                                  "le(c, p)",
                                  "eq(p, c)",
                                  "ne(cast(p, dtype=f32), c)",
                                  "floor(p)",
                                  "round(p)",
                                  "trunc(p)",
                                  "ceil(p)",
                                  "isinf(p)",
                                  "sign(p)",
                                  "cast(round(p), dtype=i32)",
                                  "bitcast(p, dtype=u16)",
                                  "where(gt(p, c), 1, 2)",
                                  "argmax(p, axis=0)",
                                  "sum(cast(p, dtype=f32))",
                                  "cast(cast(p, dtype=D), dtype=f32)",
                                  "cast(cast(p, dtype=f32), dtype=D) * c",
                                  "cast(p, dtype=D) * c",
                                  "cast(reshape(p, shape=[37]), dtype=D) - c",
                                  "cast(cast(p, dtype=f16), dtype=bf16)"};

// Stand-ins for names in a call: D is a dtype, and a, b, c and p get a number.
std::string filled(const std::string& call, const std::string& dtype, const std::string& number) {
  std::string text;
  for (size_t i = 0; i < call.size(); ++i) {
    const auto isLetter = [&](size_t at) {
      return at < call.size() && std::isalnum(static_cast<unsigned char>(call[at]));
    };
    const bool isName = isLetter(i) && !isLetter(i + 1) && (i == 0 || !isLetter(i - 1)) && std::isalpha(call[i]);
    text += isName && call[i] == 'D' ? dtype : std::string(1, call[i]);
    if (isName && call[i] != 'D') text += number;
  }
  return text;
}

// Operands whose products lie around the values that `c` has.
std::vector<HostTensor> around(DType d, int64_t count) {
  HostTensor a = HostTensor::zeros(d, {count}), b = a, c = a;
  for (int64_t i = 0; i < count; ++i) {
    const bool isSquare = i % 3 == 0;  // of a number whose square lies between two numbers
    const double step = static_cast<double>(i);
    const Scalar sa = Scalar::ofFloat(d, isSquare ? 28.375 : 0.37 * step + 0.37);
    const Scalar sb = Scalar::ofFloat(d, isSquare ? 28.375 : 1.3 - 0.11 * step);
    a.set(i, sa), b.set(i, sb), c.set(i, Scalar::ofFloat(d, sa.asFloat() * sb.asFloat()));
  }
  return {a, b, c};
}

// Every question has operands of its own: a value that several kernels read is in memory, where it is rounded anyway.
void checkShown(DType d, const char* held, const RunOptions& options) {
  constexpr int64_t kCount = 37;
  const std::string dtype(toText(d)), type = ": " + dtype + "[" + std::to_string(kCount) + "]\n";
  std::string inputs, text;
  ModelBindings bindings;
  for (size_t i = 0; i < std::size(kShown); ++i) {
    const std::string n = std::to_string(i);
    inputs += "input a" + n + type + "input b" + n + type + "input c" + n + type;
    text += "p" + n + " = " + filled(held, dtype, n) + "\noutput y" + n + " = " + filled(kShown[i], dtype, n) + "\n";
    for (const HostTensor& operand : around(d, kCount)) bindings.ports.push_back(operand);
  }
  Model model = modelOf(inputs + text);
  auto expected = interpret(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  auto actual = runPlan(model, bindings, options);
  if (!actual) FAIL(toText(actual.error()));
  for (size_t i = 0; i < std::size(kShown); ++i) {
    INFO(dtype << " " << options.target << " -O" << options.optLevel << " " << toText(options.numerics)
               << ": p = " << held << ", " << kShown[i]);
    const bool reorders = std::string_view(kShown[i]).starts_with("sum");
    const size_t port = bindings.ports.size() + i;
    CHECK(difference((*expected)[port], (*actual)[port], reorders ? 1e-6 : 0) == "");
  }
}

}  // namespace

TEST_CASE("a conversion, a comparison or a rounding sees a small float as its dtype has it") {
  for (DType d : {DType::BF16, DType::F16}) {
    for (const char* held : kHeld) checkShown(d, held, {});
    for (Numerics numerics : {Numerics::Strict, Numerics::Contract, Numerics::Fast})
      for (int level : {0, 1}) {
        RunOptions options;
        options.numerics = numerics, options.optLevel = level;
        checkShown(d, kHeld[0], options);
      }
  }
}

TEST_CASE("in C too a conversion sees a small float as its dtype has it") {
  for (DType d : {DType::BF16, DType::F16}) {
    RunOptions options;
    options.target = "c", options.quickC = true;
    checkShown(d, kHeld[0], options);
  }
}

TEST_CASE("a product of bf16 that lies between two numbers is the nearer one") {
  for (const char* shown :
       {"cast(p, dtype=f32)", "cast(cast(p, dtype=bf16), dtype=f32)", "cast(p, dtype=i32)", "gt(p, 804)"})
    for (int level : {0, 1}) {
      Model model = modelOf("input a: bf16[1]\np = a * a\noutput y = " + std::string(shown) + "\n");
      ModelBindings bindings;
      bindings.ports = {HostTensor::of(DType::BF16, {1}, {28.375})};
      RunOptions options;
      options.optLevel = level;
      auto results = runPlan(model, bindings, options);
      if (!results) FAIL(toText(results.error()));
      const Scalar y = (*results)[1].at(0);
      INFO(shown << " -O" << level);
      CHECK((isFloat(y.dtype()) ? y.asFloat() : double(y.asInt())) == (y.dtype() == DType::Bool ? 0 : 804));
    }
}

TEST_CASE("every bit pattern of every dtype is finite, infinite or NaN as its format says") {
  for (DType d : allDTypes()) {
    if (d == DType::Void || d == DType::Index) continue;
    const int bits = std::min(info(d).bits, 16), shift = info(d).bits - bits;
    const int64_t count = int64_t{1} << bits;
    HostTensor x = HostTensor::zeros(d, {count});
    for (int64_t code = 0; code < count; ++code) x.set(code, Scalar::fromBits(d, static_cast<uint64_t>(code) << shift));
    const std::string type = std::string(toText(d)) + "[" + std::to_string(count) + "]\n";
    Model model = modelOf("input x: " + type + "output n = isnan(x)\noutput i = isinf(x)\noutput f = isfinite(x)\n");
    ModelBindings bindings;
    bindings.ports = {x};
    auto results = runPlan(model, bindings, {});
    if (!results) FAIL(toText(results.error()));
    int64_t wrong = 0;
    for (int64_t code = 0; code < count; ++code) {
      const double value = isFloat(d) ? x.at(code).asFloat() : 0;
      const bool answers[] = {std::isnan(value), std::isinf(value), std::isfinite(value)};
      for (size_t i = 0; i < 3; ++i) wrong += ((*results)[i + 1].at(code).asInt() != 0) != answers[i];
    }
    INFO(toText(d));
    CHECK(wrong == 0);
  }
}
