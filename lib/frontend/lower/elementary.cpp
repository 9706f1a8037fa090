// Functions that cancel when they are written with exp and log alone, for f32 and f64. Coefficients are minimax fits of
// scripts/remez.py by the names they have here, lowest power first.
#include <span>

#include "frontend/lower/common.h"

namespace svod {

namespace {

// e^x = 1 + x + x^2 p(x), |x| <= 1/2
constexpr double kExpm1F32[] = {0.50000005960464478,   0.16666674613952637,   0.041664946824312210,
                                0.0083313016220927238, 0.0014011140447109938, 0.00020662651513703167};
constexpr double kExpm1F64[] = {0.50000000000000000,   0.16666666666666721,   0.041666666666666942,
                                0.0083333333333021828, 0.0013888888888732493, 0.00019841269898811207,
                                2.4801587589970765e-5, 2.7557272950261269e-6, 2.7557087279207264e-7,
                                2.5068942369174124e-8, 2.0961389264618757e-9, 1.3806006983577801e-10};

// log(1 + u) = t + t^3 p(t^2) for t = 2 u / (u + 2), 0 <= u <= 1
constexpr double kLog1pF32[] = {0.083333022892475128, 0.012506699189543724, 0.0021877365652471781,
                                0.00054700684268027544};
constexpr double kLog1pF64[] = {
    0.083333333333332885,  0.012500000000048720,  0.0022321428553143609, 0.00043402781170022095, 8.8778048359970213e-5,
    1.8782411890824197e-5, 4.0591674208013813e-6, 9.2355730959151421e-7, 1.5914390859393317e-7,  8.1119207099749720e-8};

// sinh x = x + x^3 p(x^2), |x| <= 1
constexpr double kSinhF32[] = {0.16666667163372040, 0.0083333104848861694, 0.00019842895562760532,
                               2.7822131869470468e-6};
constexpr double kSinhF64[] = {0.16666666666666669,   0.0083333333333329117, 0.00019841269841593402,
                               2.7557319106761988e-6, 2.5052130997428554e-8, 1.6056659304956666e-10,
                               7.7765948258291850e-13};

Tensor polynomial(Tensor x, std::span<const double> single, std::span<const double> twice) {
  const std::span<const double> c = x.dtype() == DType::F64 ? twice : single;
  Tensor sum = x * c[c.size() - 1] + c[c.size() - 2];
  for (size_t i = c.size() - 2; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

}  // namespace

Tensor oddFunction(Tensor x, Tensor y) { return where(eq(x, 0), x, where(lt(x, 0), -y, y)); }

Tensor expm1Of(Tensor x) {
  Tensor near = x * (x * polynomial(x, kExpm1F32, kExpm1F64) + 1.0);
  return where(lt(abs(x), 0.5), near, exp(x) - 1.0);
}

Tensor log1pOf(Tensor x) {
  constexpr double kLarge = 1e9;  // 1 is lost beside it
  Tensor sum = x + 1.0;
  return where(eq(sum, 1), x, where(gt(sum, kLarge), log(sum), log(sum) * (x / (sum - 1.0))));
}

Tensor log1pOfUnit(Tensor x) {
  Tensor t = x * 2.0 / (x + 2.0), square = t * t;
  return t * (square * polynomial(square, kLog1pF32, kLog1pF64)) + t;
}

Tensor sinhOf(Tensor x) {
  Tensor square = x * x, near = x * (square * polynomial(square, kSinhF32, kSinhF64)) + x;
  Tensor root = exp(abs(x) * 0.5);
  Tensor far = (root * 0.5) * root - (recip(root) * 0.5) * recip(root);
  return where(lt(abs(x), 1), near, where(lt(x, 0), -far, far));
}

}  // namespace svod
