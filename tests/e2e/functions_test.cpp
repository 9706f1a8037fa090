// Every function of one operand, in every float dtype, at its limits and between, against long double.
#include "e2e/functions.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>

#include "common/model_text.h"
#include "e2e/harness.h"
#include "e2e/seeds.h"
#include "frontend/graph_op.h"

using namespace svod;

namespace {

constexpr DType kDTypes[] = {DType::F32,    DType::F64,    DType::BF16,       DType::F16,       DType::F4E2M1,
                             DType::F8E4M3, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ};

// All of a small dtype; else limits, every exponent, whole multiples of pi/4 and ranges where something happens.
std::vector<double> operandsOf(DType d, int perExponent) {
  std::vector<double> all;
  const auto add = [&](double x) { all.push_back(Scalar::ofFloat(d, x).asFloat()); };
  const int bits = info(d).bits, fraction = info(d).fractionBits;
  if (bits <= 16) {
    for (uint64_t code = 0; code < uint64_t{1} << bits; ++code) all.push_back(Scalar::fromBits(d, code).asFloat());
    return all;
  }
  std::mt19937_64 random(3);
  for (double x : {0.0, 1e-6, 1e-5, 1e-3, 0.0099, 0.1, 0.5, 1.0, 10.0, 17.0, 1e6, 1e20, double(INFINITY), double(NAN)})
    add(x), add(-x);
  for (uint64_t exponent = 0; exponent < (uint64_t{1} << (bits - 1 - fraction)) - 1; ++exponent)
    for (int i = 0; i < perExponent; ++i) {
      const uint64_t ends[] = {0, 1, (uint64_t{1} << fraction) - 1};
      const uint64_t mantissa = i < 3 ? ends[i] : random() & ends[2];
      const double x = Scalar::fromBits(d, exponent << fraction | mantissa).asFloat();
      all.push_back(x), all.push_back(-x);
    }
  for (int k = 1; k < 400; ++k) add(k * 0.78539816339744831), add(-k * 0.78539816339744831);
  for (double reach : {1.0, 4.0, 20.0, 120.0, 800.0}) {
    std::uniform_real_distribution<double> within(-reach, reach);
    for (int i = 0; i < 400 * perExponent; ++i) add(within(random));
  }
  for (double middle : {-1.0, -0.41421356237309503, 0.0, 0.01, 0.41421356237309503, 0.625, 1.0, 3.845, 20.0}) {
    std::uniform_real_distribution<double> near(-0.01, 0.01);
    for (int i = 0; i < 50 * perExponent; ++i) add(middle + near(random));
  }
  return all;
}

struct Mode {
  int level;
  Numerics numerics;
  const char* target = "cpu";
};

class FunctionCases {
 public:
  FunctionCases(DType d, int perExponent) : d_(d), operands_(operandsOf(d, perExponent)) {
    HostTensor x = HostTensor::zeros(d, {static_cast<int64_t>(operands_.size())});
    for (size_t i = 0; i < operands_.size(); ++i) x.set(static_cast<int64_t>(i), Scalar::ofFloat(d, operands_[i]));
    bindings_.ports = {x};
    for (const Function& f : unaryFunctions()) {
      std::vector<long double>& values = exact_.emplace_back();
      for (double v : operands_) values.push_back(f.exact(v));
    }
  }

  void check(Mode mode) const {
    const std::string dtype(toText(d_));
    std::string text = "input x: " + dtype + "[" + std::to_string(operands_.size()) + "]\n";
    int number = 0;
    for (const Function& f : unaryFunctions())
      text += "output y" + std::to_string(number++) + " = " + std::string(f.op) + "(x" +
              (f.attributes.empty() ? "" : ", " + std::string(f.attributes)) + ")\n";
    Model model = modelOf(text);
    RunOptions options;
    options.optLevel = mode.level, options.numerics = mode.numerics, options.target = mode.target,
    options.quickC = true;
    auto results = runPlan(model, bindings_, options);
    if (!results) FAIL(toText(results.error()));
    for (size_t i = 0; i < unaryFunctions().size(); ++i) {
      INFO(mode.target << " -O" << mode.level << " " << toText(mode.numerics) << " " << dtype);
      CHECK(firstDifference(i, (*results)[i + 1]) == "");
    }
  }

 private:
  std::string firstDifference(size_t function, const HostTensor& results) const {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const double got = results.at(static_cast<int64_t>(i)).asFloat();
      std::string words = differenceAt(unaryFunctions()[function], d_, operands_[i], exact_[function][i], got);
      if (!words.empty()) return words;
    }
    return "";
  }

  DType d_;
  std::vector<double> operands_;
  std::vector<std::vector<long double>> exact_;  // by function and operand
  ModelBindings bindings_;
};

}  // namespace

TEST_CASE("functions of one operand are right at their limits and between") {
  uint64_t number = 0;
  for (DType d : kDTypes) {
    if (!isInShard(number++)) continue;
    const FunctionCases cases(d, 6);
    for (int level : {0, 1})
      for (Numerics numerics : {Numerics::Strict, Numerics::Contract}) cases.check({level, numerics});
  }
}

TEST_CASE("functions of one operand are right in C") {
  uint64_t number = 0;
  for (DType d : {DType::F32, DType::F64, DType::BF16, DType::F8E4M3})
    if (isInShard(number++)) FunctionCases(d, 4).check({1, Numerics::Contract, "c"});
}

TEST_CASE("no function of one operand is missing") {
  std::set<std::string_view> known;
  for (const Function& f : unaryFunctions()) known.insert(f.op);
  for (const GraphOp& op : allGraphOps()) {
    const bool isFunction =
        op.theme == "Elementwise arithmetic" || op.theme == "Elementwise transcendentals" || op.theme == "Activations";
    INFO(op.name);
    if (isFunction && op.maxOperands == 1) CHECK(known.contains(op.name));
  }
}
