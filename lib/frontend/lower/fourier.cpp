#include "frontend/lower/fourier.h"

#include <numbers>

#include "frontend/lower/common.h"

namespace svod {

namespace {

Tensor summed(Tensor line, Tensor factors) { return reduce(Op::Add, unsqueeze(line, -2) * factors, {{-1}}, false); }

// 1 / length, in the dtype of x.
Tensor inverseOf(Dim length, const Tensor& x) {
  GraphBuilder& b = *x.builder();
  return cast(recip(cast(b.value(larger(length, b.dim(1))), DType::F64)), x.dtype());
}

}  // namespace

Circle circleOf(GraphBuilder& b, DType dtype, Dim results, Dim terms, Dim length) {
  const Tensor period = b.value(larger(length, b.dim(1)));
  const Tensor steps = floormod(unsqueeze(b.iota(results), -1) * b.iota(terms), period);
  const Tensor angle = cast(steps, DType::F64) * (2 * std::numbers::pi) / cast(period, DType::F64);
  return {cast(cos(angle), dtype), cast(sin(angle), dtype)};
}

Complex transformed(const Complex& x, const Circle& circle, Dim length, bool isInverse) {
  const double sign = isInverse ? 1 : -1;
  Complex y{summed(x.real, circle.cosine), summed(x.real, circle.sine * sign)};
  if (x.imaginary) {
    y.real = y.real - summed(x.imaginary, circle.sine * sign);
    y.imaginary = y.imaginary + summed(x.imaginary, circle.cosine);
  }
  if (!isInverse || !y.real) return y;
  const Tensor share = inverseOf(length, y.real);
  return {y.real * share, y.imaginary * share};
}

Tensor realSignal(const Complex& x, const Circle& circle, Dim length) {
  if (!x.real) return {};
  GraphBuilder& b = *x.real.builder();
  const Tensor k = b.iota(x.real.dim(-1));
  const Tensor isSingle = either(eq(k, 0), eq(k * 2, b.value(length)));
  const Tensor share = cast(where(isSingle, 1.0, 2.0), x.real.dtype()) * inverseOf(length, x.real);
  const Tensor y = summed(x.real * share, circle.cosine);
  return x.imaginary ? y - summed(x.imaginary * share, circle.sine) : y;
}

Complex complexOf(Tensor x) {
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  auto part = [&](int64_t i) { return squeeze(narrow(x, -1, b.dim(i), b.dim(1)), -1); };
  return {part(0), part(1)};
}

Tensor joined(const Complex& y) {
  if (!y.real) return {};
  return y.imaginary ? y.real.builder()->op("stack", {y.real, y.imaginary}, {{"axis", -1}}) : unsqueeze(y.real, -1);
}

}  // namespace svod
