#include "ir/verify_bulk.h"

#include <algorithm>

#include "ir/bulk_tensor.h"
#include "ir/multiple_of.h"
#include "ir/verify_rules.h"

namespace svod::detail {

namespace {

bool isMbarrier(UOp address) { return storageOf(address).dtype() == DType::U64; }

bool areConstants(UOp list, int64_t least) {
  return std::ranges::all_of(list.src(), [&](UOp u) { return u.isConst() && u.constInt() >= least; });
}

std::string checkMap(const NodeView& n) {
  const auto dims = static_cast<size_t>(n.src[1].lanes());
  for (UOp list : n.src.subspan(1, 3))
    if (static_cast<size_t>(list.lanes()) != dims) return "has extents, strides and a box of one length";
  if (!areConstants(n.src[2], 0) || !areConstants(n.src[3], 1)) return "has constant strides and a constant box";
  if (!isKnownAtLaunch(n.src[0].src(1)) || !isKnownAtLaunch(n.src[1])) return "is known when the kernel starts";
  const DType dtype = n.src[0].dtype();
  if (info(dtype).bits < 8) return "has elements of whole bytes";
  const BulkTensor map{n.src[0], {}, {}, {}, n.src[4].constInt()};
  const int64_t bytes = byteSize(dtype), row = n.src[3].src(0).constInt() * bytes;
  if (multipleOf(n.src[0].src(1)) * bytes % kTensorAlignment != 0 || row % kTensorAlignment != 0)
    return "starts, and has rows of its box, at multiples of 16 bytes";
  if (!n.src[2].src(0).isConst(1)) return "has neighbours along its first dim";
  for (UOp stride : n.src[2].src().subspan(1))
    if (stride.constInt() * bytes % kTensorAlignment != 0) return "has strides of multiples of 16 bytes";
  for (UOp extent : n.src[3].src())
    if (extent.constInt() > kBoxExtent) return "has a box of at most 256 elements along each dim";
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
    return "has no swizzle, or one of 32, 64 or 128";
  return map.swizzle == 0 || row <= map.swizzle ? "" : "has rows of its box that are longer than its swizzle";
}

std::string checkLoad(const NodeView& n) {
  const BulkTensor map = bulkTensorOf(n.src[1]);
  if (n.src[0].dtype() != map.from.dtype()) return "copies whole elements of one dtype";
  if (static_cast<size_t>(n.src[2].lanes()) != map.extents.size()) return "has a coordinate for each dim";
  if (multipleOf(n.src[0].src(1)) * byteSize(n.src[0].dtype()) % kBoxAlignment != 0)
    return "copies to multiples of 128 bytes";
  const int swizzle = storageOf(n.src[0]).argAs<SlotArg>().swizzle;
  if (swizzle != 0 && int64_t{1} << swizzle != map.swizzle) return "copies to a buffer with the swizzle of its map";
  return isMbarrier(n.src[3]) ? "" : "arrives at an mbarrier, a u64";
}

}  // namespace

std::string checkBulk(const NodeView& n, const GpuOpInfo& row) {
  if (row.does(Issues)) return checkLoad(n);
  if (!row.does(Makes) && !row.does(Arrives) && !row.does(Waits)) return checkMap(n);
  if (!isMbarrier(n.src[0])) return "is about an mbarrier, a u64";
  if (row.does(Makes)) return n.src[1].constInt() > 0 && n.src[1].constInt() < 1 << 20 ? "" : "has 1 to 2^20 arrivals";
  return !row.does(Arrives) || n.src[1].constInt() < 1 << 20 ? "" : "expects less than 2^20 bytes";
}

}  // namespace svod::detail
