#include "facts/local_buffers.h"

#include <algorithm>

#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "support/integers.h"

namespace svod {

UOp bufferOf(UOp fill) { return storageOf(fill.src(0).src(0)); }

int64_t fillBytes(UOp fill) {
  int64_t bytes = 0;
  return __builtin_mul_overflow(fill.maxNumel(), byteSize(fill.dtype()), &bytes) ? INT64_MAX : bytes;
}

int64_t bytesInMemory(UOp fill, int64_t threads) {
  const UOp buffer = bufferOf(fill);
  int64_t elements = fill.maxNumel();
  if (fillBytes(fill) == INT64_MAX) return INT64_MAX;
  for (UOp r : fill.src().subspan(1))
    if (axisType(r) == AxisType::Spread && buffer.argAs<SlotArg>().ring > 0 && maxExtent(r) > 0)
      elements = elements / maxExtent(r) * ceilDiv(maxExtent(r), threads) * threads;
  return localBytes(buffer, elements);
}

int64_t bytesOfFills(const KernelFacts& kernel) {
  int64_t bytes = 0;
  for (UOp fill : kernel.fills) bytes += fillBytes(fill);
  return bytes;
}

std::optional<Access> bareCopyOf(UOp fill) {
  UOp value = fill.src(0).src(1);
  if (value.op() != Op::Load || storageOf(value.src(0)).op() != Op::Param) return std::nullopt;
  return Access{value, value.src(0).src(1), storageOf(value.src(0)).argAs<SlotArg>().slot, false};
}

std::optional<TensorBox> bulkBoxOf(UOp sink, UOp fill) {
  const std::span<const UOp> loops = fill.src().subspan(1);
  if (!std::ranges::all_of(loops, [](UOp r) { return axisType(r) == AxisType::Loop; })) return std::nullopt;
  std::optional<TensorBox> box = boxOf(fill.src(0), loops);
  return box && isUsedOnce(sink, box->param) ? box : std::nullopt;
}

bool isFilledInBulk(UOp sink, UOp fill, int64_t threads, const GpuTarget& gpu) {
  return bufferOf(fill).argAs<SlotArg>().ring > 0 && threads % kWarpLanes == 0 &&
         hasGpuOp("bulk_load", gpu.family, gpu.generation) && bulkBoxOf(sink, fill);
}

int64_t widestCopy(UOp fill) {
  const std::optional<Access> copy = bareCopyOf(fill);
  return copy ? togetherAlong(*copy, fill.src(fill.srcCount() - 1), kAccessBytes / byteSize(fill.dtype())) : 1;
}

bool isGated(UOp fill) {
  return std::ranges::any_of(toposort(fill.src(0)), [](UOp n) { return n.op() == Op::Load && n.srcCount() > 2; });
}

bool isInFill(const KernelFacts& kernel, UOp range) {
  return std::ranges::any_of(kernel.nodes, [&](UOp n) { return n.op() == Op::Fill && n.dependsOn(range); });
}

std::optional<int64_t> strideInFill(const KernelFacts& kernel, UOp axis) {
  for (const Access& a : kernel.accesses)
    if (!a.slot) return strideOf(a, axis);
  return std::nullopt;
}

}  // namespace svod
