// Fourier transforms against their definition, summed in double.
#include <catch2/catch.hpp>
#include <complex>
#include <numbers>

#include "common/model_text.h"
#include "interp/interp.h"

using namespace svod;

namespace {

using Numbers = std::vector<std::complex<double>>;

Numbers transformOf(const Numbers& x, double sign) {
  Numbers y(x.size());
  const double n = static_cast<double>(x.size());
  for (size_t k = 0; k < x.size(); ++k)
    for (size_t t = 0; t < x.size(); ++t)
      y[k] += x[t] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k * t % x.size()) / n);
  return y;
}

// A signal that repeats nowhere.
Numbers signalOf(int64_t n, bool isReal) {
  Numbers x;
  for (int64_t i = 0; i < n; ++i)
    x.emplace_back(static_cast<double>(i * 7 % 11) / 4 - 1, isReal ? 0.0 : static_cast<double>(i * 5 % 13) / 8);
  return x;
}

HostTensor tensorOf(const Numbers& x, bool isReal) {
  const auto n = static_cast<int64_t>(x.size());
  HostTensor t = HostTensor::zeros(DType::F32, isReal ? std::vector{n} : std::vector<int64_t>{n, 2});
  for (int64_t i = 0; i < n; ++i) {
    const auto& value = x[static_cast<size_t>(i)];
    t.set(isReal ? i : 2 * i, Scalar::ofFloat(DType::F32, value.real()));
    if (!isReal) t.set(2 * i + 1, Scalar::ofFloat(DType::F32, value.imag()));
  }
  return t;
}

/// The result of `call` on x, complex where its last axis has two elements. The length is `size`, a number or n.
Numbers resultOf(const std::string& call, const Numbers& x, bool isReal, bool isComplexResult,
                 const std::string& size = "n") {
  const std::string port = "input x: f32[" + size + (isReal ? "]\n" : ", 2]\n");
  Model model = modelOf((size == "n" ? "var n in [1, 64]\n" : "") + port + "output y = " + call);
  ModelBindings bindings;
  if (size == "n") bindings.variables["n"] = static_cast<int64_t>(x.size());
  bindings.ports = {tensorOf(x, isReal)};
  auto results = interpret(model, bindings);
  if (!results) FAIL(toText(results.error()));
  const HostTensor& y = results->back();
  Numbers all;
  for (int64_t i = 0; i < y.numel(); i += isComplexResult ? 2 : 1)
    all.emplace_back(y.at(i).asFloat(), isComplexResult ? y.at(i + 1).asFloat() : 0);
  return all;
}

void checkNear(const Numbers& have, const Numbers& want, double scale = 1) {
  REQUIRE(have.size() == want.size());
  for (size_t i = 0; i < have.size(); ++i) CHECK(std::abs(have[i] - want[i]) < 2e-5 * scale);
}

}  // namespace

TEST_CASE("transforms of lengths that are numbers: in parts, as matrices and as convolutions") {
  // Powers, products of small and of large primes, primes on both sides of where a convolution is less work.
  for (int64_t n : {65, 96, 128, 131, 134, 243, 256, 400, 521, 1009, 1024}) {
    INFO(n);
    const std::string size = std::to_string(n);
    const Numbers x = signalOf(n, false), real = signalOf(n, true);
    const double scale = std::sqrt(static_cast<double>(n));
    checkNear(resultOf("fft(x)", x, false, true, size), transformOf(x, -1), scale);
    Numbers back = transformOf(x, 1);
    for (auto& value : back) value /= static_cast<double>(n);
    checkNear(resultOf("fft(x, axis=0, inverse=true)", x, false, true, size), back);
    Numbers first = transformOf(real, -1);
    first.resize(static_cast<size_t>(n / 2 + 1));
    checkNear(resultOf("rfft(x)", real, true, true, size), first, scale);
    checkNear(resultOf("irfft(x, length=" + size + ")", first, false, false, std::to_string(n / 2 + 1)), real);
  }
}

TEST_CASE("a transform of a known length needs no table of its square") {
  Model model = modelOf("input x: f32[4096]\noutput y = rfft(x)\n");
  for (UOp n : toposort(model.sink)) CHECK((n.op() != Op::Reduce || n.src(0).maxNumel() <= 64 * 4096));
}

TEST_CASE("transforms of every length up to 17 are those of the definition") {
  for (int64_t n = 1; n <= 17; ++n) {
    INFO(n);
    const Numbers x = signalOf(n, false), real = signalOf(n, true);
    checkNear(resultOf("fft(x)", x, false, true), transformOf(x, -1));
    Numbers back = transformOf(x, 1);
    for (auto& value : back) value /= static_cast<double>(n);
    checkNear(resultOf("fft(x, axis=0, inverse=true)", x, false, true), back);
    Numbers first = transformOf(real, -1);
    first.resize(static_cast<size_t>(n / 2 + 1));
    checkNear(resultOf("rfft(x)", real, true, true), first);
    checkNear(resultOf("irfft(x, length=" + std::to_string(n) + ")", first, false, false), real);
  }
}

TEST_CASE("frames are transformed one by one, times their window") {
  const Numbers x = signalOf(23, true);
  const Numbers y = resultOf("stft(x, arange(stop=6, dtype=f32), length=6, step=4)", x, true, true);
  REQUIRE(y.size() == 5 * 4);
  for (size_t frame = 0; frame < 5; ++frame) {
    Numbers cut(x.begin() + 4 * frame, x.begin() + 4 * frame + 6);
    for (size_t i = 0; i < 6; ++i) cut[i] *= static_cast<double>(i);
    Numbers want = transformOf(cut, -1);
    want.resize(4);
    checkNear(Numbers(y.begin() + 4 * frame, y.begin() + 4 * frame + 4), want);
  }
}
