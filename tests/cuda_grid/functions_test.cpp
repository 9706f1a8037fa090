// Every function of one operand on the emulated grid, whose approximate instructions are off by as much as they may be.
#include "e2e/functions.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "common/model_text.h"
#include "cuda_grid/on_grid.h"

using namespace svod;

namespace {

/// Limits, every exponent, and ranges where something happens.
std::vector<double> operandsOf(DType d) {
  std::vector<double> all;
  const auto add = [&](double x) { all.push_back(Scalar::ofFloat(d, x).asFloat()); };
  std::mt19937_64 random(3);
  for (double x : {0.0, 1e-6, 1e-3, 0.1, 0.5, 1.0, 10.0, 17.0, 1e6, 1e20, double(INFINITY), double(NAN)})
    add(x), add(-x);
  for (uint32_t exponent = 0; exponent < 255; ++exponent)
    for (uint32_t fraction : {0u, 1u, 0x7fffffu, static_cast<uint32_t>(random()) & 0x7fffff}) {
      const double x = std::bit_cast<float>(exponent << 23 | fraction);
      add(x), add(-x);
    }
  for (double reach : {1.0, 4.0, 20.0, 120.0}) {
    std::uniform_real_distribution<double> within(-reach, reach);
    for (int i = 0; i < 600; ++i) add(within(random));
  }
  return all;
}

void check(DType d, Numerics numerics, std::string arch) {
  const std::vector<double> operands = operandsOf(d);
  const std::string dtype(toText(d));
  std::string text = "input x: " + dtype + "[" + std::to_string(operands.size()) + "]\n";
  int number = 0;
  for (const Function& f : unaryFunctions())
    text += "output y" + std::to_string(number++) + " = " + std::string(f.op) + "(x" +
            (f.attributes.empty() ? "" : ", " + std::string(f.attributes)) + ")\n";
  Model model = modelOf(text);
  ModelBindings bindings;
  bindings.ports = {HostTensor::zeros(d, {static_cast<int64_t>(operands.size())})};
  for (size_t i = 0; i < operands.size(); ++i)
    bindings.ports[0].set(static_cast<int64_t>(i), Scalar::ofFloat(d, operands[i]));
  const auto results = runPlan(model, bindings, onGrid(1, numerics, 3, std::move(arch)));
  if (!results) FAIL(toText(results.error()));
  for (size_t f = 0; f < unaryFunctions().size(); ++f) {
    Function function = unaryFunctions()[f];
    if (numerics != Numerics::Strict && function.onGpu > 0) function.ulp = function.onGpu;
    std::string words;
    for (size_t i = 0; i < operands.size() && words.empty(); ++i)
      words = differenceAt(function, d, operands[i], function.exact(operands[i]),
                           (*results)[f + 1].at(static_cast<int64_t>(i)).asFloat());
    INFO(dtype << " " << toText(numerics));
    CHECK(words == "");
  }
}

}  // namespace

TEST_CASE("functions of one operand are within their bounds for GPUs") {
  for (DType d : {DType::F32, DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2})
    check(d, Numerics::Contract, "sm_90a");
  check(DType::F32, Numerics::Strict, "sm_90a");
  check(DType::F32, Numerics::Contract, "sm_75");
}
