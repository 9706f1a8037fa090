// Zero-filled memory straight from the system: page aligned, and in huge pages where it is large.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "support/result.h"

namespace svod {

class MemoryBlock {
 public:
  MemoryBlock() = default;
  MemoryBlock(MemoryBlock&& other) noexcept
      : mapping_(std::exchange(other.mapping_, nullptr)),
        mapped_(std::exchange(other.mapped_, 0)),
        data_(other.data_) {}
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~MemoryBlock() {
    if (mapped_ > 0) ::munmap(mapping_, mapped_);
  }

  static Result<MemoryBlock> allocate(uint64_t bytes, const char* purpose) {
    MemoryBlock block;
    if (bytes == 0) return block;
    const bool huge = bytes >= 2 * kHugePage;
    block.mapped_ = bytes + (huge ? kHugePage : 0);
    block.mapping_ =
        ::mmap(nullptr, block.mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block.mapping_ == MAP_FAILED) {
      block.mapped_ = 0;
      return fail(Diag::DeviceFailure, "cannot reserve " + std::to_string(bytes) + " bytes for " + purpose,
                  "free some memory, or use smaller shapes");
    }
    const auto address = reinterpret_cast<uintptr_t>(block.mapping_);
    const uintptr_t aligned = huge ? (address + kHugePage - 1) / kHugePage * kHugePage : address;
    block.data_ = reinterpret_cast<std::byte*>(aligned);
#ifdef MADV_HUGEPAGE
    if (huge) (void)::madvise(block.data_, bytes, MADV_HUGEPAGE);  // only a hint
#endif
    return block;
  }

  std::byte* data() const { return data_; }

 private:
  static constexpr uint64_t kHugePage = UINT64_C(2) << 20;
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace svod
