// Pieces that several transcendental functions share. Formulas: docs/numerics.md.
#pragma once
#include "lower/decompose_expr.h"

namespace svod::detail {

/// e^x = 2^n (1 + tail) for finite x; NaN in, NaN tail out.
struct ExpParts {
  Rounded n;
  Ex tail;
};
ExpParts expParts(Ex x);

/// 2^n as a product, for |n| up to one and a half times the greatest exponent. A number near 1 times `first` is a
/// normal number, so that only `second` rounds. `isBelow` is true for n that are too small for one factor.
struct PowerOfTwo {
  Ex first, second;
};
PowerOfTwo factorsOf(const Rounded& n, Ex isBelow);

/// x * 2^n rounded once, for such n and x near 1.
Ex scaleByPowerOfTwo(Ex x, const Rounded& n, Ex isBelow);

/// e^x or 2^x, and 1 / x for normal numbers up to 2^126, by approximate instructions of a GPU, of an f32.
Ex approximateExp(Ex x, bool isOfTwo);
Ex approximateReciprocal(Ex x);

/// x = 2^n (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for positive finite x, subnormals included.
struct LogParts {
  Ex n, f;  // both floats
};
LogParts logParts(Ex x);

/// a * b as a sum of two floats, without error.
struct Product {
  Ex high, low;
};
Product exactProduct(Ex a, Ex b);

}  // namespace svod::detail
