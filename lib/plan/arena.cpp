#include "plan/arena.h"

#include <algorithm>

namespace svod {

namespace {
constexpr uint64_t kMost = UINT64_C(1) << 62;  // the sum of two never overflows
}

ArenaUnits::ArenaUnits(const Plan& plan) : rows_(2 * plan.devices.size() + 1), before_(plan.buffers.size()) {
  const auto isPlaced = [](const BufferDesc& buffer) { return buffer.run && buffer.run->end > 0; };
  for (const BufferDesc& buffer : plan.buffers)
    if (isPlaced(buffer)) {
      uint32_t& count = rows_[rowOf(buffer.device, buffer.space) + 1];
      count = std::max(count, buffer.run->end + 1);
    }
  for (size_t row = 1; row < rows_.size(); row++) rows_[row] += rows_[row - 1];
  lastIn_.resize(rows_.back());
  begins_.resize(rows_.back());
  for (BufferId id = 0; id < plan.buffers.size(); id++) {
    const BufferDesc& buffer = plan.buffers[id];
    if (!isPlaced(buffer)) continue;
    uint32_t& last = lastIn_[beginOf(buffer.device, buffer.space) + buffer.run->end];
    before_[id] = last;
    last = id + 1;
  }
}

void ArenaUnits::layOut(const Plan& plan, std::span<const uint64_t> bytes) {
  for (size_t row = 1; row < rows_.size(); row++) {
    const uint32_t first = rows_[row - 1];
    uint64_t at = 0;
    for (uint32_t unit = first; unit < rows_[row]; unit++) {
      for (uint32_t id = lastIn_[unit]; id != 0; id = before_[id - 1]) {
        const uint64_t room = (bytes[id - 1] + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
        at = std::max(at, std::min(begins_[first + plan.buffers[BufferId(id - 1)].run->begin] + room, kMost));
      }
      begins_[unit] = at;
    }
  }
}

std::optional<uint64_t> bytesInRun(const BufferDesc& buffer, std::span<const int64_t> values) {
  const std::optional<int64_t> bytes = buffer.run->bytes.tryEvaluate(values);
  if (!bytes || *bytes < 0 || static_cast<uint64_t>(*bytes) > buffer.bytes) return std::nullopt;
  return static_cast<uint64_t>(*bytes);
}

}  // namespace svod
