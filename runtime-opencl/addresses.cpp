#include "runtime-opencl/addresses.h"

#include <sys/mman.h>

#include <algorithm>

namespace svod::opencl {

namespace {

/// Of a range: one that stands for nothing has an address as well.
uint64_t mappedBytes(uint64_t bytes) { return std::max<uint64_t>(bytes, 1); }

}  // namespace

Addresses::~Addresses() {
  for (const auto& [begin, range] : ranges_) (void)::munmap(reinterpret_cast<void*>(begin), mappedBytes(range.bytes));
}

void* Addresses::reserve(Memory memory, uint64_t bytes) {
  void* const begin =
      ::mmap(nullptr, mappedBytes(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  ranges_[reinterpret_cast<uintptr_t>(begin)] = {memory, bytes};
  return begin;
}

Memory Addresses::release(void* address) {
  const auto found = ranges_.find(reinterpret_cast<uintptr_t>(address));
  if (found == ranges_.end()) return nullptr;
  const Memory memory = found->second.memory;
  (void)::munmap(address, mappedBytes(found->second.bytes));
  ranges_.erase(found);
  return memory;
}

Addresses::Place Addresses::find(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto range = ranges_.upper_bound(at);
  if (range == ranges_.begin()) return {};
  --range;
  const uint64_t offset = at - range->first;
  if (offset > range->second.bytes) return {};
  return {range->second.memory, offset, range->second.bytes - offset};
}

}  // namespace svod::opencl
