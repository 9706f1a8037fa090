#include "lower/swizzle.h"

#include <algorithm>

#include "ir/multiple_of.h"
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
  const int64_t period = swizzlePeriod(swizzleOf(buffer)) / byteSize(buffer.dtype());
  arg.swizzle = 0;
  return g.make(Op::Buffer, buffer.dtype(), {g.index((buffer.maxNumel() + period - 1) / period * period)}, arg);
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

int64_t swizzlePeriod(int64_t swizzle) { return std::max(swizzle, kBanks) * turnsOf(swizzle); }

UOp swizzled(Graph& g, UOp at, int64_t bytes, int64_t swizzle) {
  UOp row = g.alu(Op::Floordiv, {at, g.index(std::max(swizzle, kBanks) / bytes)});
  UOp turn = g.alu(Op::Mul, {g.alu(Op::Floormod, {row, g.index(turnsOf(swizzle))}), g.index(kPiece / bytes)});
  return simplify(g, g.alu(Op::Xor, {at, turn}));
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
