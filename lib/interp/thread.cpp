#include "interp/thread.h"

#include <algorithm>

#include "ir/bulk_tensor.h"
#include "ir/gpu_op.h"
#include "ir/text.h"

namespace svod {

namespace {

bool waitsForPhase(UOp u) { return u.op() == Op::Gpu && gpuOpOf(u).does(Bulk) && gpuOpOf(u).does(Waits); }

}  // namespace

Result<UOp> Thread::runToMeeting() {
  isWaiting_ = false;
  while (at_ < program_.kernel.ops.size()) {
    UOp u = program_.kernel.ops[at_];
    const bool isOfWarp = u.op() == Op::Gpu && gpuOpOf(u).isOfMany();
    if (u.op() == Op::Barrier || u.op() == Op::Wmma || isOfWarp) return u;
    if (waitsForPhase(u)) {
      SVOD_TRY(const Address bar, address(u.src(0)));
      SVOD_TRY(const bool isOver, group_.mbarriers.isOver(u, bar, valueOf(u.src(1)).first.asInt()));
      isWaiting_ = !isOver;
      if (isWaiting_) return u;
    }
    SVOD_CHECK(step(u));
  }
  return UOp();
}

Status Thread::step(UOp u) {
  if (u.op() == Op::Range) return enterLoop(u);
  if (u.op() == Op::End) return closeLoops(u);
  SVOD_CHECK(execute(u));
  ++at_;
  return {};
}

Status Thread::execute(UOp u) {
  if (hasEvalLanes(u)) {
    const LaneValues* few[4];
    std::vector<const LaneValues*> many;
    std::span<const LaneValues*> operands(few, std::min<size_t>(u.srcCount(), 4));
    if (u.srcCount() > 4) many.resize(u.srcCount()), operands = many;
    for (size_t i = 0; i < u.srcCount(); ++i) operands[i] = &valueOf(u.src(i));
    evalLanes(u, operands, here());
    return {};
  }
  switch (u.op()) {
    case Op::Var: {
      SVOD_TRY(Scalar v, boundVariable(u, variables_));
      here() = LaneValues(v);
      return {};
    }
    case Op::After:
    case Op::Prefetch: here() = valueOf(u.src(0)); return {};
    case Op::Index: here() = valueOf(u.src(1)); return {};
    case Op::Load: return load(u);
    case Op::Store: return store(u);
    case Op::Gpu: return executeAlone(u);
    case Op::Buffer: openLocal(u); return {};
    case Op::Param:
    case Op::Special:
    case Op::Sink:
    case Op::Group: return {};
    default: return fail(Diag::Verify, "not an instruction: " + toLineText(u), "verify the graph first");
  }
}

Status Thread::enterLoop(UOp range) {
  int64_t first = range == program_.kernel.threadRange ? tiles_.first : 0;
  here() = LaneValues(Scalar::ofInt(range.dtype(), first));
  at_ = first < limitOf(range) ? at_ + 1 : program_.loopEnd[at_] + 1;
  return skippedOuter(range);
}

Status Thread::skippedOuter(UOp range) {
  if (at_ == 0 || at_ > program_.kernel.ops.size()) return {};
  UOp end = program_.kernel.ops[at_ - 1];
  if (end.op() != Op::End || end.src(1) == range || at_ - 1 != program_.loopEnd[positionOf(range)]) return {};
  for (size_t k = end.srcCount(); k-- > 1;)
    if (end.src(k) == range) return stepOuter(end, k);
  return {};
}

Status Thread::stepOuter(UOp end, size_t count) {
  for (size_t k = count; k-- > 1;) {
    size_t position = positionOf(end.src(k));
    int64_t next = registers_[position].first.asInt() + 1;
    registers_[position] = LaneValues(Scalar::ofInt(end.src(k).dtype(), next));
    if (next < limitOf(end.src(k))) {
      at_ = position + 1;
      return {};
    }
  }
  at_ = positionOf(end) + 1;
  return {};
}

int64_t Thread::limitOf(UOp range) const {
  int64_t size = valueOf(range.src(0)).first.asInt();
  return range == program_.kernel.threadRange && tiles_.second >= 0 ? std::min(size, tiles_.second) : size;
}

Result<Address> Thread::address(UOp index) {
  UOp storage = storageOf(index.src(0));
  if (storage.op() == Op::Buffer) return Address{index, &localOf(storage), valueOf(index)};
  const size_t slot = storage.op() == Op::Param ? storage.argAs<SlotArg>().slot : program_.kernel.params.size();
  if (slot < program_.kernel.params.size() && program_.kernel.params[slot].param) {
    SVOD_TRY(HostTensor * bound, boundBuffer(storage, slot, buffers_));
    return Address{index, bound, valueOf(index)};
  }
  return fail(Diag::Verify, "not a parameter of the kernel: " + toLineText(storage), "list it in params");
}

HostTensor& Thread::localOf(UOp buffer) {
  bool shared = buffer.argAs<SlotArg>().space == Space::Local;
  return (shared ? group_.buffers : own_)[positionOf(buffer)];
}

void Thread::openLocal(UOp buffer) {
  if (localOf(buffer).dtype == DType::Void) localOf(buffer) = makeLocal(buffer);
}

Status Thread::load(UOp u) {
  SVOD_TRY(Address from, address(u.src(0)));
  bool gated = u.srcCount() > 2;
  SVOD_TRY(here(), loadLanes(u, from, gated ? &valueOf(u.src(1)) : nullptr, gated ? &valueOf(u.src(2)) : nullptr));
  return {};
}

Status Thread::store(UOp u) {
  SVOD_TRY(Address to, address(u.src(0)));
  return storeLanes(u, to, valueOf(u.src(1)), u.srcCount() > 2 ? &valueOf(u.src(2)) : nullptr);
}

Status Thread::executeAlone(UOp u) {
  const GpuOpInfo& row = gpuOpOf(u);
  const std::span<const UOp> operands = operandsOf(u);
  if (row.does(Bulk)) return executeBulk(u);
  if (row.does(Fences)) return {};
  if (row.does(Waits)) return copies_.wait(static_cast<size_t>(valueOf(operands[0]).first.asInt())), Status{};
  if (row.does(Commits)) return copies_.commit(), Status{};
  SVOD_TRY(Address to, address(operands[0]));
  SVOD_TRY(Address from, address(operands[1]));
  const bool isThere = operands.size() < 3 || valueOf(operands[2]).first.asInt() != 0;
  return copies_.start(u, to, isThere ? &from : nullptr, bytesCopied(row));
}

Status Thread::executeBulk(UOp u) {
  const GpuOpInfo& row = gpuOpOf(u);
  const std::span<const UOp> operands = operandsOf(u);
  const bool isGated = row.operands[operands.size() - 1].kind == GpuOperandKind::Gate;
  if (row.does(Waits) || (isGated && valueOf(operands.back()).first.asInt() == 0)) return {};
  if (row.does(Issues)) {
    SVOD_TRY(const Address to, address(operands[0]));
    SVOD_TRY(const Address bar, address(operands[3]));
    const BulkTensor map = bulkTensorOf(operands[1]);
    BulkCopy copy{to.storage, to.at[0].asInt(), nullptr, 0, {}, {}, map, false};
    copy.isSwizzled = map.swizzle > 0 && storageOf(operands[0]).argAs<SlotArg>().swizzle == 0;
    SVOD_TRY(const Address from, address(map.from));
    copy.from = from.storage, copy.first = from.at[0].asInt();
    for (UOp extent : map.extents) copy.extents.push_back(valueOf(extent).first.asInt());
    for (int i = 0; i < operands[2].lanes(); ++i)
      copy.at.push_back(valueOf(operands[2])[static_cast<size_t>(i)].asInt());
    return group_.mbarriers.start(u, std::move(copy), bar);
  }
  if (!row.does(Makes) && !row.does(Arrives)) return {};
  SVOD_TRY(const Address bar, address(operands[0]));
  const int64_t amount = operands[1].constInt();
  return row.does(Makes) ? group_.mbarriers.make(bar, amount) : group_.mbarriers.expect(u, bar, amount);
}

}  // namespace svod
