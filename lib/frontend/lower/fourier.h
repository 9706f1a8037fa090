// Discrete Fourier transforms along the last axis, as sums of products with cosines and sines.
// y[k] = sum over t of x[t] * exp(-2 pi i k t / n); the inverse has the other sign and a factor 1/n.
#pragma once
#include "frontend/builder.h"

namespace svod {

/// Real and imaginary part; `imaginary` is null for real numbers.
struct Complex {
  Tensor real, imaginary;
};

/// cos and sin of 2 pi k t / n for k, t: [results, terms].
struct Circle {
  Tensor cosine, sine;
};
/// Computed in f64, in which the angle of a term far out is still exact enough for f32.
Circle circleOf(GraphBuilder& b, DType dtype, Dim results, Dim terms, Dim length);

/// x [.., terms], which are at most `length`: the missing ones are 0. The result has as many as the circle.
Complex transformed(const Complex& x, const Circle& circle, Dim length, bool isInverse);
/// The real signal whose transform starts with x; the rest of the transform mirrors it.
Tensor realSignal(const Complex& x, const Circle& circle, Dim length);

/// The last axis of x, which has two elements, as real and imaginary part.
Complex complexOf(Tensor x);
/// The inverse; a null imaginary part is left out.
Tensor joined(const Complex& y);

}  // namespace svod
