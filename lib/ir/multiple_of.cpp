#include "ir/multiple_of.h"

#include <algorithm>

#include "ir/graph.h"

namespace svod {

namespace {

int64_t powerIn(int64_t value) { return value == 0 ? kMostAligned : std::min(value & -value, kMostAligned); }

// Of an op whose operands are multiples of `a` and `b`.
int64_t combined(UOp n, int64_t a, int64_t b) {
  switch (n.op()) {
    case Op::Add:
    case Op::Sub:
    case Op::Min:
    case Op::Max:
    case Op::Or:
    case Op::Xor:
    case Op::Floormod:
    case Op::Cmod: return std::min(a, b);  // x % c is x less a multiple of c
    case Op::And: return std::max(a, b);
    case Op::Mul: return std::min(a * b, kMostAligned);
    case Op::Shl:
      return n.src(1).isConst() ? std::min(a << std::clamp<int64_t>(n.src(1).constInt(), 0, 20), kMostAligned) : a;
    case Op::Floordiv:
    case Op::Cdiv: {
      const int64_t by = n.src(1).isConst() ? n.src(1).constInt() : 0;
      return by > 0 && powerIn(by) == by ? std::max<int64_t>(a / by, 1) : 1;
    }
    case Op::Shr:
      return n.src(1).isConst() ? std::max<int64_t>(a >> std::clamp<int64_t>(n.src(1).constInt(), 0, 20), 1) : 1;
    default: return 1;
  }
}

}  // namespace

int64_t multipleOf(UOp index, UOp zero) {
  const std::vector<UOp> order = toposort(index);
  std::vector<int64_t> known(index.id() + 1, 1);
  for (UOp n : order) {
    const auto of = [&](size_t i) { return known[n.src(i).id()]; };
    if (!isInt(n.dtype()) || !n.isScalar()) continue;
    if (n == zero) known[n.id()] = kMostAligned;
    if (n.isConst()) known[n.id()] = powerIn(n.constInt());
    if (n.op() == Op::Cast && isInt(n.src(0).dtype())) known[n.id()] = of(0);
    if (n.op() == Op::Neg) known[n.id()] = of(0);
    if (n.op() == Op::Where) known[n.id()] = std::min(of(1), of(2));
    if (n.op() == Op::Mulacc) known[n.id()] = std::min(std::min(of(0) * of(1), kMostAligned), of(2));
    if (isElementwise(n.op()) && n.srcCount() == 2) known[n.id()] = combined(n, of(0), of(1));
  }
  return known[index.id()];
}

}  // namespace svod
