#include "lower/swizzle.h"

#include <algorithm>

#include "ir/local_memory.h"
#include "ir/multiple_of.h"
#include "lower/constant_parts.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int64_t kPiece = 16, kBanks = 128;  // bytes: what stays together, and what all banks hold side by side

// Bytes of a row; 0 without a swizzle.
int64_t swizzleOf(UOp buffer) {
  const int log = buffer.op() == Op::Buffer ? buffer.argAs<SlotArg>().swizzle : 0;
  return log > 0 ? int64_t{1} << log : 0;
}

// Rows that have their pieces in different places.
int64_t turnsOf(int64_t swizzle) { return std::min(swizzle, kBanks) / kPiece; }

UOp withoutSwizzle(Graph& g, UOp buffer) {
  SlotArg arg = buffer.argAs<SlotArg>();
  arg.swizzle = 0;
  return g.make(Op::Buffer, buffer.dtype(), {g.index(stageElements(buffer))}, arg);
}

/// A sum as one of whole periods, which a swizzle leaves as they are, and the rest of it.
struct Periods {
  std::vector<UOp> whole;
  UOp rest;
  int64_t constant = 0;  // of whole ones
};

void collect(Graph& g, UOp at, int64_t period, Periods& to) {
  if (at.op() == Op::Add) return collect(g, at.src(0), period, to), collect(g, at.src(1), period, to);
  if (at.isConst()) {
    const int64_t left = at.constInt() & (period - 1);
    to.constant += at.constInt() - left;
    at = g.index(left);
  } else if (multipleOf(at) % period == 0) {
    return to.whole.push_back(at);
  }
  to.rest = to.rest ? g.alu(Op::Add, {to.rest, at}) : at;
}

UOp moved(Graph& g, UOp at, int64_t bytes, int64_t swizzle) {
  if (at.isScalar()) return swizzled(g, at, bytes, swizzle);
  const int64_t lanes = at.lanes();
  const bool isWhole = at.op() == Op::Ramp && lanes * bytes <= kPiece && multipleOf(at.src(0)) % lanes == 0;
  if (isWhole) return g.make(Op::Ramp, at.dtype(), {swizzled(g, at.src(0), bytes, swizzle)}, at.arg());
  std::vector<UOp> each;
  for (int64_t i = 0; i < lanes; ++i) {
    UOp lane = at.op() == Op::Ramp ? g.alu(Op::Add, {at.src(0), g.index(i)})
                                   : g.make(Op::Lane, at.dtype(), {at}, SlotArg{static_cast<uint32_t>(i)});
    each.push_back(swizzled(g, lane, bytes, swizzle));
  }
  return g.make(Op::Stack, at.dtype(), each);
}

}  // namespace

UOp swizzled(Graph& g, UOp at, int64_t bytes, int64_t swizzle) {
  Periods parts;
  collect(g, simplify(g, at), swizzlePeriod(swizzle) / bytes, parts);
  if (!parts.rest) parts.rest = g.index(0);
  UOp row = g.alu(Op::Floordiv, {parts.rest, g.index(std::max(swizzle, kBanks) / bytes)});
  UOp turn = g.alu(Op::Mul, {g.alu(Op::Floormod, {row, g.index(turnsOf(swizzle))}), g.index(kPiece / bytes)});
  // The same in each period, in all rounds of a loop over them, and in each line of all banks.
  const int64_t fixed = constantPart(simplify(g, parts.rest)).constant, lines = fixed & -(kBanks / bytes);
  UOp inLine = simplify(g, g.alu(Op::Sub, {parts.rest, g.index(lines)}));
  UOp place = g.alu(Op::Add, {g.alu(Op::Xor, {inLine, turn}), g.index(lines)});
  for (UOp whole : parts.whole) place = g.alu(Op::Add, {place, whole});
  return simplify(g, g.alu(Op::Add, {place, g.index(parts.constant)}));
}

UOp swizzleBuffers(Graph& g, UOp sink) {
  if (std::ranges::none_of(toposort(sink), [](UOp n) { return swizzleOf(n) > 0; })) return sink;
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    if (swizzleOf(n) > 0) return withoutSwizzle(g, n);
    UOp storage = n.op() == Op::Index ? storageOf(n.src(0)) : UOp();
    if (!storage || swizzleOf(storage) == 0) return same;
    UOp at = moved(g, src[1], byteSize(n.dtype()), swizzleOf(storage));
    return g.indexInto(src[0], {&at, 1});
  });
}

}  // namespace svod
