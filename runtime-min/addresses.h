// Addresses for memory of devices that is known by handles: a range of addresses that nothing else has stands for each,
// and nobody may touch it.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace svod {

/// `Memory` is a handle, and null is none.
template <class Memory>
class Addresses {
 public:
  /// Where an address lies; no memory where it lies nowhere.
  struct Place {
    Memory memory = nullptr;
    uint64_t offset = 0, room = 0;  // bytes in front of it, and from it on
  };

  Addresses() = default;
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() {
    for (const auto& [begin, range] : ranges_) (void)::munmap(reinterpret_cast<void*>(begin), mappedBytes(range.bytes));
  }

  /// A range for `bytes` of `memory`, a multiple of the size of pages; null where there is none.
  void* reserve(Memory memory, uint64_t bytes) {
    void* const begin =
        ::mmap(nullptr, mappedBytes(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) return nullptr;
    ranges_[reinterpret_cast<uintptr_t>(begin)] = {memory, bytes};
    return begin;
  }

  /// Gives the range back; what it stood for, null for what was not reserved.
  Memory release(void* address) {
    const auto found = ranges_.find(reinterpret_cast<uintptr_t>(address));
    if (found == ranges_.end()) return nullptr;
    const Memory memory = found->second.memory;
    (void)::munmap(address, mappedBytes(found->second.bytes));
    ranges_.erase(found);
    return memory;
  }

  Place find(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    auto range = ranges_.upper_bound(at);
    if (range == ranges_.begin()) return {};
    --range;
    const uint64_t offset = at - range->first;
    if (offset > range->second.bytes) return {};
    return {range->second.memory, offset, range->second.bytes - offset};
  }

 private:
  struct Range {
    Memory memory;
    uint64_t bytes;
  };

  /// Of a range: one that stands for nothing has an address as well.
  static uint64_t mappedBytes(uint64_t bytes) { return std::max<uint64_t>(bytes, 1); }

  std::map<uintptr_t, Range> ranges_;  // by where they begin
};

}  // namespace svod
