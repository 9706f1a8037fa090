#include "lower/shuffle_fold.h"

#include <algorithm>

#include "ir/gpu_op.h"
#include "lower/assignment.h"

namespace svod {

namespace {

int64_t threadsOf(UOp range) { return range.src(0).constInt(); }

UOp shuffled(Graph& g, UOp value, int64_t mask) {
  UOp by = g.constant(Scalar::ofInt(DType::I32, mask));
  const auto one = [&](UOp lane) { return g.make(Op::Gpu, value.dtype(), {lane, by}, NameArg{"shuffle_xor"}); };
  if (value.isScalar()) return one(value);
  std::vector<UOp> lanes;
  for (int i = 0; i < value.lanes(); ++i)
    lanes.push_back(one(g.make(Op::Lane, value.dtype(), {value}, SlotArg{static_cast<uint32_t>(i)})));
  return g.make(Op::Stack, value.dtype(), lanes);
}

/// Of groups of `lanes` neighbours, a power of two.
UOp foldLanes(Graph& g, Op op, UOp value, int64_t lanes) {
  for (int64_t mask = lanes / 2; mask > 0; mask /= 2) value = g.alu(op, {value, shuffled(g, value, mask)});
  return value;
}

}  // namespace

bool needsBuffer(UOp range) { return threadsOf(range) > kWarpLanes; }

UOp foldThreads(Graph& g, Op op, UOp value, UOp range, uint32_t slot) {
  value = foldLanes(g, op, value, std::min<int64_t>(threadsOf(range), kWarpLanes));
  if (!needsBuffer(range)) return value;
  const int64_t warps = threadsOf(range) / kWarpLanes, width = value.lanes();
  UOp row = g.index(0), size = g.index(warps * width);
  std::vector<UOp> end{UOp(), range};
  for (UOp r : value.ranges()) {  // threads that fold something else at the same time
    if (!isThread(r) || r == range) continue;
    row = g.alu(Op::Add, {g.alu(Op::Mul, {row, r.src(0)}), r});
    size = g.index(size.constInt() * threadsOf(r));
    end.push_back(r);
  }
  UOp buffer = g.buffer(value.dtype(), {&size, 1}, {slot, Space::Local}), lanes = g.index(kWarpLanes);
  const auto placeOf = [&](UOp storage, UOp warp) {
    UOp at = g.alu(Op::Add, {g.alu(Op::Mul, {row, g.index(warps)}), warp});
    if (width > 1)
      at =
          g.make(Op::Ramp, DType::Index, {g.alu(Op::Mul, {at, g.index(width)})}, SlotArg{static_cast<uint32_t>(width)});
    return g.indexInto(storage, {&at, 1});
  };
  UOp isFirst = g.alu(Op::Eq, {g.alu(Op::Floormod, {range, lanes}), g.index(0)});
  UOp place = placeOf(buffer, g.alu(Op::Floordiv, {range, lanes}));
  end[0] = g.make(Op::Store, DType::Void, {place, value, isFirst});
  UOp ready = g.make(Op::After, value.dtype(), {buffer, g.make(Op::End, DType::Void, end)});
  return foldLanes(g, op, g.load(placeOf(ready, g.alu(Op::Floormod, {range, g.index(warps)}))), warps);
}

UOp closeThreads(Graph& g, UOp effect) {
  std::vector<UOp> end{effect};
  for (UOp r : effect.ranges())
    if (isThread(r)) end.push_back(r);
  return end.size() == 1 ? effect : g.make(Op::End, DType::Void, end);
}

}  // namespace svod
