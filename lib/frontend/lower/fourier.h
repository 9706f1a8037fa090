// Discrete Fourier transforms along the last axis, in n log n steps where the length is a number.
// y[k] = sum over t of x[t] * exp(-2 pi i k t / n); the inverse has the other sign and a factor 1/n.
#pragma once
#include "frontend/builder.h"

namespace svod {

/// Real and imaginary part; `imaginary` is null for real numbers.
struct Complex {
  Tensor real, imaginary;
};

/// The first `results` of a transform of x [.., terms], which are at most `length`: the missing ones are 0.
Complex transformed(const Complex& x, Dim results, Dim length, bool isInverse);
/// The real signal whose transform starts with x; the rest of the transform mirrors it.
Tensor realSignal(const Complex& x, Dim length);

/// The last axis of x, which has two elements, as real and imaginary part.
Complex complexOf(Tensor x);
/// The inverse; a null imaginary part is left out.
Tensor joined(const Complex& y);

}  // namespace svod
