#include "ir/steady_math.h"

#include <cmath>

#include "ir/scalar.h"

namespace svod {

namespace {

// With 113 bits, of which a double takes 53: no library's last bits matter.
#if defined(__x86_64__)
using Wide = __float128;
#define SVOD_WIDE(name) name##f128
#if defined(__clang__)  // whose headers of the C library leave them out
extern "C" {
Wide expf128(Wide), exp2f128(Wide), logf128(Wide), log2f128(Wide), sinf128(Wide), cosf128(Wide), tanf128(Wide);
Wide tanhf128(Wide), erff128(Wide), powf128(Wide, Wide);
}
#endif
#else
using Wide = long double;
#define SVOD_WIDE(name) std::name
#endif

Wide wideValue(Op op, Wide x, Wide y) {
  switch (op) {
    case Op::Exp: return SVOD_WIDE(exp)(x);
    case Op::Exp2: return SVOD_WIDE(exp2)(x);
    case Op::Log: return SVOD_WIDE(log)(x);
    case Op::Log2: return SVOD_WIDE(log2)(x);
    case Op::Sin: return SVOD_WIDE(sin)(x);
    case Op::Cos: return SVOD_WIDE(cos)(x);
    case Op::Tan: return SVOD_WIDE(tan)(x);
    case Op::Tanh: return SVOD_WIDE(tanh)(x);
    case Op::Erf: return SVOD_WIDE(erf)(x);
    default: return SVOD_WIDE(pow)(x, y);
  }
}

bool isTranscendental(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Tanh:
    case Op::Erf:
    case Op::Pow: return true;
    default: return false;
  }
}

}  // namespace

double steadyValue(Op op, double x, double y, double near, DType dtype) {
  constexpr double kError = 0x1p-49;  // relative: eight units of the last place, and more
  if (!isTranscendental(op) || !std::isfinite(near) || near == 0) return near;
  const bool isClear =
      dtype != DType::F64 && Scalar::ofFloat(dtype, near * (1 - kError)) == Scalar::ofFloat(dtype, near * (1 + kError));
  return isClear ? near : static_cast<double>(wideValue(op, x, y));
}

}  // namespace svod
