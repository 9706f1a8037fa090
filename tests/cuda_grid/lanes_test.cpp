// Instructions of GPUs that lanes compute alone: two readings of each agree, and kernels that use them convert, compare
// and divide as the interpreter does.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "common/model_text.h"
#include "cuda_grid/calls.h"
#include "cuda_grid/lane_math.h"
#include "cuda_grid/on_grid.h"
#include "ir/gpu_op.h"

using namespace svod;

namespace {

/// Ends and middles of every exponent, and what lies around powers of two of small formats, both signs.
std::vector<double> extremes() {
  std::vector<double> all;
  for (uint32_t exponent = 0; exponent < 256; ++exponent)
    for (uint32_t fraction : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0x18000u, 0x3fffffu, 0x400000u, 0x600000u, 0x7fffffu})
      for (uint32_t sign : {0u, 1u}) all.push_back(std::bit_cast<float>(sign << 31 | exponent << 23 | fraction));
  return all;
}

std::vector<double> drawn(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> all;
  for (size_t i = 0; i < count; ++i) all.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  return all;
}

double unitOf(double x) { return std::ldexp(1.0, std::max(x == 0 ? -126 : std::ilogb(x), -126) - 23); }

struct Reading {
  std::string_view name;
  int function;
  int units = 0;  // by which both may be off
};
constexpr Reading kReadings[] = {
    {"f32_bf16", SvodToBf16},       {"f32_f8e4m3", SvodToF8e4m3}, {"f32_f8e5m2", SvodToF8e5m2},
    {"f8e4m3_f32", SvodFromF8e4m3}, {"max_nan", SvodMax},         {"min_nan", SvodMin},
    {"fma_sat", SvodFmaSat},        {"ex2_approx", SvodExp2, 2},  {"rcp_approx", SvodReciprocal, 1}};

/// Of the hundred NaNs of bf16 a GPU makes one, the interpreter another.
bool isNanOfBits(std::string_view name, double bits) {
  const auto b = static_cast<int>(bits);
  return name == "f32_bf16" ? (b & 0x7fff) > 0x7f80 : name == "f32_f8e5m2" && (b & 0x7f) > 0x7c;
}

bool agree(const Reading& reading, double ours, double grids) {
  if (std::isnan(ours) || std::isnan(grids)) return std::isnan(ours) && std::isnan(grids);
  if (reading.units == 0)
    return (ours == grids && std::signbit(ours) == std::signbit(grids)) ||
           (isNanOfBits(reading.name, ours) && isNanOfBits(reading.name, grids));
  if (std::max(std::abs(ours), std::abs(grids)) <= 0x1.000004p-126) return true;  // one may be below, and become 0
  return ours == grids || std::abs(ours - grids) <= (reading.units + 0.5) * unitOf(ours);
}

HostTensor tensorOf(DType dtype, const std::vector<double>& values) {
  HostTensor t = HostTensor::zeros(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) t.set(static_cast<int64_t>(i), Scalar::ofFloat(dtype, values[i]));
  return t;
}

/// What a graph gives for its inputs on the grid, and in the interpreter.
void checkGraph(const std::string& text, std::vector<HostTensor> inputs, std::string arch, Numerics numerics) {
  Model model = modelOf(text);
  ModelBindings bindings;
  bindings.ports = std::move(inputs);
  bindings.ports.resize(model.ports.size());
  const auto expected = interpret(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  const auto actual = runPlan(model, bindings, onGrid(1, numerics, 5, arch));
  if (!actual) FAIL(toText(actual.error()));
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (model.ports[i].kind != PortKind::Output) continue;
    INFO(arch << " " << toText(numerics) << " " << model.ports[i].name);
    CHECK((sameValues((*expected)[i], (*actual)[i], true) ? "" : difference((*expected)[i], (*actual)[i], 0)) == "");
  }
}

}  // namespace

TEST_CASE("every instruction of lanes is the same to the interpreter and to the grid") {
  size_t ofLanes = 0;
  for (const GpuOpInfo& row : allGpuOps()) ofLanes += row.isOfLane() && row.name != "round_bf16";
  CHECK(ofLanes == std::size(kReadings));
  const std::vector<double> values = extremes(), more = drawn(40000, 3);
  std::vector<double> bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(i);
  for (const Reading& reading : kReadings) {
    const GpuOpInfo& row = *findGpuOp(reading.name);
    const bool isOfBytes = row.operands[0].kind == GpuOperandKind::Byte;
    std::mt19937 random(11);
    std::vector<double> first = isOfBytes ? bytes : values;
    if (!isOfBytes) first.insert(first.end(), more.begin(), more.end());
    for (double x : first)
      for (int round = 0; round < (row.operandCount > 1 ? 8 : 1); ++round) {
        const double y = values[random() % values.size()], z = values[random() % values.size()];
        const Scalar operands[] = {
            isOfBytes ? Scalar::ofInt(DType::U8, static_cast<int64_t>(x)) : Scalar::ofFloat(DType::F32, x),
            Scalar::ofFloat(DType::F32, y), Scalar::ofFloat(DType::F32, z)};
        const Scalar ours = evalGpu(row, std::span(operands, static_cast<size_t>(row.operandCount)));
        const double value = isFloat(ours.dtype()) ? ours.asFloat() : static_cast<double>(ours.asInt());
        const double grids = mathOf(nullptr, reading.function, x, y, z);
        INFO(reading.name << " of " << x << ", " << y << ", " << z << ": " << value << " and " << grids);
        if (!agree(reading, value, grids)) FAIL_CHECK();
      }
  }
}

TEST_CASE("casts between f32 and small floats are exact for every pattern") {
  std::vector<double> values = extremes();
  const std::vector<double> more = drawn(3000, 7);
  values.insert(values.end(), more.begin(), more.end());
  for (DType small : {DType::BF16, DType::F16, DType::F8E4M3, DType::F8E5M2}) {
    HostTensor patterns = HostTensor::zeros(small, {int64_t{1} << info(small).bits});
    for (int64_t code = 0; code < patterns.numel(); ++code)
      patterns.set(code, Scalar::fromBits(small, static_cast<uint64_t>(code)));
    const std::string name(toText(small)), n = std::to_string(values.size()), all = std::to_string(patterns.numel());
    const std::string text =
        "input x: f32[" + n + "]\ninput s: " + name + "[" + all + "]\noutput down = cast(x, dtype=" + name +
        ")\noutput back = cast(cast(x, dtype=" + name +
        "), dtype=f32)\noutput up = cast(s, dtype=f32)\noutput moved = s * 1.0\noutput sum = s + s\n" +
        "output larger = max(s, 0.5)\n";
    checkGraph(text, {tensorOf(DType::F32, values), patterns}, "sm_80", Numerics::Strict);
    checkGraph(text, {tensorOf(DType::F32, values), patterns}, "sm_90a", Numerics::Contract);
  }
}

TEST_CASE("maxima and minima of f32 keep NaN, infinities and numbers as they are") {
  const std::vector<double> values = extremes();
  std::vector<double> others = values;
  std::shuffle(others.begin(), others.end(), std::mt19937(5));
  const std::string n = std::to_string(values.size());
  const std::string text = "input x: f32[" + n + "]\ninput y: f32[" + n +
                           "]\noutput most = max(x, y)\noutput least = min(x, y)\n" +
                           "output limited = max(min(x, 4.0), -4.0)\noutput rows = reduce_max(reshape(x, shape=[" +
                           std::to_string(values.size() / 8) + ", 8]), axes=[1])\n";
  for (const char* arch : {"sm_75", "sm_80"})
    for (Numerics numerics : {Numerics::Strict, Numerics::Contract})
      checkGraph(text, {tensorOf(DType::F32, values), tensorOf(DType::F32, others)}, arch, numerics);
}

namespace {

/// Errors of a graph of f32 in units of the last place, against `exact`.
double worstUnits(const std::string& text, const std::vector<std::vector<double>>& inputs, Numerics numerics,
                  double (*exact)(double, double), double leastDividend = 0) {
  Model model = modelOf(text);
  ModelBindings bindings;
  for (const std::vector<double>& values : inputs) bindings.ports.push_back(tensorOf(DType::F32, values));
  bindings.ports.resize(model.ports.size());
  const auto actual = runPlan(model, bindings, onGrid(1, numerics, 5));
  if (!actual) FAIL(toText(actual.error()));
  double worst = 0;
  for (size_t i = 0; i < inputs[0].size(); ++i) {
    const double x = inputs[0][i], y = inputs.size() > 1 ? inputs[1][i] : 0, want = exact(x, y);
    const double got = (*actual)[inputs.size()].at(static_cast<int64_t>(i)).asFloat();
    if (std::abs(x) < leastDividend || (std::isnan(want) && std::isnan(got))) continue;
    const auto nearest = static_cast<float>(want);
    if (want == 0 && std::signbit(got) != std::signbit(want)) FAIL_CHECK(text << " of " << x << ", " << y << ": sign");
    const double error = std::isinf(nearest) || std::isinf(got) || std::isnan(got)
                             ? (nearest == got ? 0 : 1e30)
                             : std::abs(got - want) / unitOf(want);
    if (error > worst) UNSCOPED_INFO(text << " of " << x << ", " << y << ": " << got << ", not " << want);
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace

TEST_CASE("quotients are within their bounds, and exact where they are numbers") {
  std::vector<double> a = extremes(), b = extremes();
  std::shuffle(b.begin(), b.end(), std::mt19937(9));
  const std::vector<double> more = drawn(4000, 21), others = drawn(4000, 22);
  a.insert(a.end(), more.begin(), more.end()), b.insert(b.end(), others.begin(), others.end());
  const std::string n = std::to_string(a.size()),
                    text = "input x: f32[" + n + "]\ninput y: f32[" + n + "]\noutput q = x / y\n";
  const auto quotient = [](double x, double y) { return x / y; };
  CHECK(worstUnits(text, {a, b}, Numerics::Strict, quotient) <= 0.5);
  CHECK(worstUnits(text, {a, b}, Numerics::Contract, quotient) <= 2.5);
  CHECK(worstUnits(text, {a, b}, Numerics::Contract, quotient, 0x1p-100) <= 0.501);
  const std::string of = "input x: f32[" + n + "]\noutput q = ";
  CHECK(worstUnits(of + "recip(x)\n", {a}, Numerics::Contract, [](double x, double) { return 1 / x; }) <= 0.501);
  CHECK(
      worstUnits(of + "x / 3.0\n", {a}, Numerics::Contract, [](double x, double) { return x / 3; }, 0x1p-100) <= 0.501);
  std::mt19937 random(2);
  std::vector<double> whole, divisors;
  for (int i = 0; i < 4000; ++i) {
    divisors.push_back(1 + random() % 4096), whole.push_back(divisors.back() * (random() % 4096));
  }
  CHECK(worstUnits("input x: f32[4000]\ninput y: f32[4000]\noutput q = x / y\n", {whole, divisors}, Numerics::Contract,
                   quotient) == 0);
}
