// Constant offsets: an address as a base and a constant (an internal header of the room).
#pragma once
#include "ir/graph.h"

namespace svod {

struct ConstantPart {
  UOp base;  // null: the address is a constant
  int64_t constant = 0;
};

/// Of a simplified index, which has its constant last.
inline ConstantPart constantPart(UOp index) {
  if (index.isConst()) return {{}, index.constInt()};
  if (index.op() == Op::Add && index.src(1).isConst()) return {index.src(0), index.src(1).constInt()};
  return {index, 0};
}

}  // namespace svod
