#include "interp/mbarriers.h"

#include <cstring>

#include "ir/text.h"

namespace svod {

namespace {

std::pair<const HostTensor*, int64_t> keyOf(const Address& bar) { return {bar.storage, bar.at[0].asInt()}; }

int64_t elementBytes(const BulkCopy& copy) { return byteSize(copy.map.from.dtype()); }

/// Whether elements that exist lie in their storage.
bool isInside(const BulkCopy& copy) {
  int64_t last = copy.first;
  for (size_t d = 0; d < copy.extents.size(); ++d) last += (copy.extents[d] - 1) * copy.map.strides[d];
  return copy.first >= 0 && last < copy.from->numel() && copy.place >= 0 &&
         copy.place + copy.map.boxElements() <= copy.to->numel();
}

}  // namespace

Status Mbarriers::make(const Address& bar, int64_t arrivals) {
  all_[keyOf(bar)] = {arrivals, arrivals, 0, 0, {}};
  return {};
}

Result<Mbarriers::Mbarrier*> Mbarriers::find(UOp node, const Address& bar) {
  const auto at = all_.find(keyOf(bar));
  if (at != all_.end()) return &at->second;
  return fail(Diag::Verify, "no mbarrier was made for " + toLineText(node), "mbar_init comes before");
}

Status Mbarriers::expect(UOp node, const Address& bar, int64_t bytes) {
  SVOD_TRY(Mbarrier * known, find(node, bar));
  --known->missing, known->bytes += bytes;
  return {};
}

Status Mbarriers::start(UOp node, BulkCopy copy, const Address& bar) {
  SVOD_TRY(Mbarrier * known, find(node, bar));
  if (!isInside(copy))
    return fail(Diag::Mismatch, "copies beyond its memory: " + toLineText(node), "the pass that made the map is wrong");
  known->bytes -= copy.map.boxElements() * elementBytes(copy);
  known->copies.push_back(std::move(copy));
  return {};
}

Result<bool> Mbarriers::isOver(UOp node, const Address& bar, int64_t parity) {
  SVOD_TRY(Mbarrier * known, find(node, bar));
  if (known->parity == parity && known->missing == 0 && known->bytes == 0) {
    for (const BulkCopy& copy : known->copies) perform(copy);
    *known = {known->arrivals, known->arrivals, 0, 1 - parity, {}};
  }
  return known->parity != parity;
}

void Mbarriers::perform(const BulkCopy& copy) {
  const int64_t bytes = elementBytes(copy), count = copy.map.boxElements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t left = i, from = copy.first;
    bool exists = true;
    for (size_t d = 0; d < copy.at.size(); ++d) {
      const int64_t at = copy.at[d] + left % copy.map.box[d];
      left /= copy.map.box[d];
      exists &= at >= 0 && at < copy.extents[d];
      from += at * copy.map.strides[d];
    }
    int64_t place = (copy.place + i) * bytes;
    if (copy.isSwizzled) place ^= (place >> 7 & (copy.map.swizzle / 16 - 1)) << 4;
    std::byte* to = copy.to->data.data() + place;
    if (exists)
      std::memcpy(to, copy.from->data.data() + from * bytes, static_cast<size_t>(bytes));
    else
      std::memset(to, 0, static_cast<size_t>(bytes));
  }
}

}  // namespace svod
