#include "tensor/work.h"

#include <algorithm>

#include "tensor/nodes.h"

namespace svod {

size_t idsBelow(std::span<const UOp> nodes) {
  size_t below = 1;
  for (UOp n : nodes) below = std::max<size_t>(below, n.id() + 1);
  return below;
}

std::vector<bool> indexMath(std::span<const UOp> order, size_t size) {
  std::vector<bool> isMath(size);
  for (UOp n : order) {
    bool leaf = n.op() == Op::Const || n.op() == Op::Var || n.op() == Op::Range || n.op() == Op::Iota;
    bool cheap = isMovement(n.op()) || (isElementwise(n.op()) && work(n) < kTranscendentalCost);
    isMath[n.id()] = leaf || (cheap && std::ranges::all_of(n.src(), [&](UOp s) { return isMath[s.id()]; }));
  }
  return isMath;
}

bool isByteDistance(UOp n) {
  const bool isOffset =
      (n.op() == Op::Sub || n.op() == Op::Add) && n.dtype() == DType::I32 && n.src(0).op() == Op::Cast;
  if (!isOffset || !isInt(n.src(0).src(0).dtype()) || info(n.src(0).src(0).dtype()).bits != 8) return false;
  UOp zero = n.src(1);
  while (zero.op() == Op::Cast || isMovement(zero.op())) zero = zero.src(0);
  return zero.maxNumel() < n.maxNumel();
}

bool isPartOfByte(UOp n) {
  const auto belowMovement = [](UOp value) {
    while (isMovement(value.op())) value = value.src(0);
    return value;
  };
  if (n.dtype() != DType::U8 || (n.op() != Op::And && n.op() != Op::Shr)) return false;
  UOp byte = belowMovement(n.src(0));
  if (n.op() == Op::And && byte.op() == Op::Shr) byte = belowMovement(byte.src(0));
  return isStorage(byte) && (n.op() == Op::Shr || belowMovement(n.src(1)).op() == Op::Const);
}

}  // namespace svod
