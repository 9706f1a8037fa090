#include "target/multiples.h"

#include <algorithm>

namespace svod {

bool isMultiple(UOp x, int64_t n) {
  switch (x.op()) {
    case Op::Const: return x.constInt() % n == 0;
    case Op::Ramp:
    case Op::Cast: return isMultiple(x.src(0), n);
    case Op::Mul: return isMultiple(x.src(0), n) || isMultiple(x.src(1), n);
    case Op::Shl: return x.src(1).isConst() && n <= int64_t{1} << std::clamp<int64_t>(x.src(1).constInt(), 0, 32);
    case Op::Add:
    case Op::Sub:
    case Op::Min:
    case Op::Max: return isMultiple(x.src(0), n) && isMultiple(x.src(1), n);
    default: return n == 1;
  }
}

}  // namespace svod
