// Mbarriers, and bulk copies of boxes of tensors that are under way from where they are started to the phase in which
// their bytes arrive. Where pieces go is as the PTX manual says it ("Swizzling Modes").
#include <algorithm>
#include <cstring>

#include "cuda_grid/grid.h"

namespace svod {

namespace {

constexpr int64_t kMostBytes = 1 << 20;
constexpr uint32_t kPiece = 16;

bool isPower(uint32_t x) { return x != 0 && (x & (x - 1)) == 0; }

/// Pieces of 16 bytes change places within 32, 64 or 128 bytes, with the 128 bytes they lie in.
uint64_t swizzledPlace(uint64_t at, uint32_t swizzle) {
  if (swizzle == 0) return at;
  const uint64_t line = at / 128, pieces = swizzle / kPiece;
  return at ^ (line % pieces) * kPiece;
}

void addTo(std::vector<bool>& known, uint32_t number) {
  if (known.size() <= number) known.resize(number + 1);
  known[number] = true;
}

}  // namespace

bool EmulatedGrid::elect() {
  const size_t warp = current_->number / 32;
  if (threads_.size() % 32 != 0) fault("DIVERGENCE: elect in a workgroup of no whole warps");
  return warp == 0 && current_->number == 0;
}

void EmulatedGrid::makeMbarrier(const void* bar, int arrivals) {
  touchShared(bar, 8, true, accessOf(*current_), "mbarrier.init");
  if (arrivals < 1) fault("MBARRIER: one that waits for nobody");
  mbarriers_[bar] = {current_, moment_++, arrivals, arrivals, 0, 0, {}, {}};
}

EmulatedGrid::Mbarrier& EmulatedGrid::mbarrierAt(const void* bar, const char* what) {
  const auto at = mbarriers_.find(bar);
  if (at == mbarriers_.end()) fault("MBARRIER: " + std::string(what) + " where none was made");
  const Mbarrier& known = at->second;
  if (known.maker != current_ && current_->knows.all < known.madeAt)
    fault("RACE: " + std::string(what) + " of an mbarrier that thread " + std::to_string(known.maker->number) +
          " makes, with nothing in between");
  return at->second;
}

void EmulatedGrid::expect(const void* bar, int bytes) {
  Mbarrier& known = mbarrierAt(bar, "an arrival");
  known.arrived.join(current_->knows);
  known.bytes += bytes, --known.missing;
  if (known.missing < 0) fault("MBARRIER: more threads arrive than a phase has");
  if (known.bytes >= kMostBytes) fault("MBARRIER: a phase of too many bytes");
  ++moment_;
  advance(known);
}

void EmulatedGrid::advance(Mbarrier& known) {
  if (known.missing != 0 || known.bytes != 0) return;
  known.over.join(known.arrived);
  known.arrived = {};
  known.missing = known.arrivals, known.parity ^= 1;
  moved_ = true;
}

void EmulatedGrid::waitPhase(const void* bar, int parity) {
  Thread& thread = *current_;
  const Mbarrier& known = mbarrierAt(bar, "a wait");
  if (parity != 0 && parity != 1) fault("MBARRIER: a phase has parity 0 or 1");
  thread.waitsAt = "an mbarrier", thread.waitsFor = bar, thread.parity = parity;
  while (known.parity == parity) {
    const bool performs = !bulk_.empty() && (isStuck_ || (options_.delay == Delay::Random && random_() % 16 == 0));
    if (performs)
      performBulk(options_.delay == Delay::Random ? random_() % bulk_.size() : 0);
    else
      thread.fiber.suspend();
  }
  thread.waitsFor = nullptr;
  thread.knows.join(known.over);
  moved_ = true;
  ++moment_;
}

void EmulatedGrid::checkMap(const SvodMap& map, int dims, const void* to) {
  const uint32_t row = map.box[0] * uint32_t{map.elementBytes};
  bool isRight = map.dims == dims && isPower(map.elementBytes) && row % kPiece == 0 &&
                 reinterpret_cast<uintptr_t>(map.address) % kPiece == 0;
  for (int d = 0; d < dims; ++d) isRight &= map.box[d] >= 1 && map.box[d] <= 256;
  for (int d = 0; d + 1 < dims; ++d) isRight &= map.strides[d] % kPiece == 0;
  isRight &= map.swizzle == 0 || ((map.swizzle == 32 || map.swizzle == 64 || map.swizzle == 128) && row <= map.swizzle);
  if (!isRight) fault("ALIGNMENT: a tensor map that the driver would not encode, or of other dims");
  if ((static_cast<const unsigned char*>(to) - sharedBase_) % 128 != 0)
    fault("ALIGNMENT: a bulk copy to no multiple of 128 bytes");
}

void EmulatedGrid::bulkLoad(void* to, const SvodMap* map, const void* bar, int dims, const int* at) {
  checkMap(*map, dims, to);
  const Mbarrier& known = mbarrierAt(bar, "a bulk copy");
  const std::vector<uint32_t>* fenced = current_->knows.fenced.get();
  const bool isSeen = known.maker == current_ ? current_->fencedAt > known.madeAt
                                              : fenced != nullptr && (*fenced)[known.maker->number] > known.madeAt;
  if (!isSeen) fault("PROXY: a bulk copy to an mbarrier that was made with no fence for it");
  BulkCopy copy{static_cast<unsigned char*>(to), map, bar, {}, current_, current_->knows, moment_++, ++copyGroups_};
  std::copy_n(at, 5, copy.at.begin());
  bulk_.push_back(std::move(copy));
  if (isNow()) performBulk(bulk_.size() - 1);
}

void EmulatedGrid::performBulk(size_t position) {
  const BulkCopy copy = std::move(bulk_[position]);
  bulk_.erase(bulk_.begin() + static_cast<long>(position));
  perform(copy);
  Mbarrier& known = mbarriers_.at(copy.bar);
  known.arrived.join(copy.knows);
  addTo(known.arrived.copies, copy.number), addTo(known.arrived.seen, copy.number);
  int64_t bytes = copy.map->elementBytes;
  for (int d = 0; d < copy.map->dims; ++d) bytes *= copy.map->box[d];
  known.bytes -= bytes;  // those beyond the tensor as well
  if (known.bytes <= -kMostBytes) fault("MBARRIER: more bytes arrive than a phase can expect");
  moved_ = true;
  advance(known);
}

void EmulatedGrid::perform(const BulkCopy& copy) {
  const SvodMap& map = *copy.map;
  Access access{Agent::copies(copy.number),
                copy.moment,
                &copy.knows,
                Agent::thread(firstThread_ + copy.starter->number),
                firstThread_,
                static_cast<uint32_t>(threads_.size())};
  access.isBehindFence = true, access.fencedAt = copy.starter->fencedAt;
  const uint32_t bytes = map.elementBytes, each = kPiece / bytes;
  uint64_t pieces = map.box[0] / each;
  for (int d = 1; d < map.dims; ++d) pieces *= map.box[d];
  const auto start = static_cast<uint64_t>(copy.to - sharedBase_);
  for (uint64_t i = 0; i < pieces; ++i) {
    uint64_t left = i;
    int64_t first = 0;
    bool exists = true;  // the row
    const auto* from = static_cast<const unsigned char*>(map.address);
    for (int d = 0; d < map.dims; ++d) {
      const uint64_t extent = d == 0 ? map.box[0] / each : map.box[d];
      const int64_t at = copy.at[d] + static_cast<int64_t>(left % extent * (d == 0 ? each : 1));
      left /= extent;
      if (d == 0) first = at;
      if (d > 0) exists &= at >= 0 && at < map.extents[d];
      from += at * static_cast<int64_t>(d == 0 ? bytes : map.strides[d - 1]);
    }
    unsigned char* to = sharedBase_ + swizzledPlace(start + i * kPiece, map.swizzle);
    touchShared(to, kPiece, true, access, "a bulk copy");
    const bool isWhole = exists && first >= 0 && first + each <= map.extents[0];
    const bool isPiece = isWhole && reinterpret_cast<uintptr_t>(from) % kPiece == 0;
    if (isPiece) touchGlobal(from, kPiece, nullptr, access, "a bulk copy");
    for (uint32_t e = 0; e < each; ++e) {
      const bool isThere = exists && first + e >= 0 && first + e < map.extents[0];
      if (isThere && !isPiece) touchGlobal(from + e * bytes, bytes, nullptr, access, "a bulk copy");
      isThere ? std::memcpy(to + e * bytes, from + e * bytes, bytes) : std::memset(to + e * bytes, 0, bytes);
    }
  }
}

}  // namespace svod
