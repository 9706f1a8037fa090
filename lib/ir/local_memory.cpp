#include "ir/local_memory.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/warpgroup_operand.h"
#include "support/integers.h"

namespace svod {

namespace {

constexpr int64_t kPiece = 16, kBanks = 128;  // bytes: what stays together, and what all banks hold side by side

int64_t stageOf(UOp buffer, int64_t elements) {
  const SlotArg& arg = buffer.argAs<SlotArg>();
  if (arg.swizzle == 0 && arg.ring == 0) return elements;
  const int64_t row = arg.swizzle > 0 ? swizzlePeriod(int64_t{1} << arg.swizzle) : kPiece;
  return roundUp(elements, std::max<int64_t>(1, row / byteSize(buffer.dtype())));
}

}  // namespace

int64_t swizzlePeriod(int64_t swizzle) { return std::max(swizzle, kBanks) * std::min(swizzle, kBanks) / kPiece; }

int64_t stageElements(UOp buffer) { return stageOf(buffer, buffer.maxNumel()); }

int64_t localBytes(UOp buffer, int64_t elements) {
  constexpr int64_t kMost = int64_t{1} << 50;  // far beyond every limit
  const int64_t stage = std::max(elements, buffer.maxNumel()),
                stages = std::max<int64_t>(1, buffer.argAs<SlotArg>().ring);
  if (stage > kMost) return INT64_MAX;
  return roundUp(stageOf(buffer, stage) * stages * byteSize(buffer.dtype()), kLocalAlignment);
}

std::vector<LocalPlace> placesOf(std::vector<UOp> buffers) {
  const auto order = [](UOp b) { return std::pair(localBytes(b) % kOperandPeriod != 0, b.argAs<SlotArg>().slot); };
  std::ranges::sort(buffers, {}, order);
  std::vector<LocalPlace> places;
  int64_t offset = 0;
  for (UOp b : buffers) {
    places.push_back({b, offset});
    offset += localBytes(b);
  }
  return places;
}

}  // namespace svod
