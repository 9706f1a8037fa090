// Memory of an instance: from the application's svod_memory, or straight from the system. The system's is zero-filled,
// in huge pages where it is large, and there once it is touched: what is never touched takes up addresses only.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "support/result.h"
#include "support/says.h"
#include "svod/runtime.h"

namespace svod {

/// Whether the system would give so many bytes now: asked before work whose many small requests have no way to fail.
inline bool hasMemory(uint64_t bytes) {
  void* const room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && ::munmap(room, bytes) == 0;
}

class MemoryBlock {
 public:
  MemoryBlock() = default;
  MemoryBlock(MemoryBlock&& other) noexcept { swap(other); }
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MemoryBlock() {
    if (bytes_ == 0) return;
    if (source_.release != nullptr)
      source_.release(source_.user, data_, bytes_);
    else
      ::munmap(mapping_, bytes_);
  }

  /// Nothing for 0 bytes. The system's memory is page aligned, whatever `alignment` is.
  static Result<MemoryBlock> allocate(const svod_memory& source, uint64_t bytes, uint64_t alignment,
                                      const char* purpose) {
    MemoryBlock block;
    if (bytes == 0) return block;
    block.source_ = source;
    block.asked_ = bytes;
    if (source.allocate != nullptr ? block.ask(bytes, alignment, purpose) : block.map(bytes)) return block;
    return fail(Diag::DeviceFailure, says({"cannot reserve ", bytes, " bytes for ", purpose}),
                "free some memory, or compile for smaller sizes: svodc compile --var NAME=MIN:MAX");
  }

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return asked_; }
  /// Whether it comes from the system and is so large that huge pages are worth it only where most of it is used.
  bool isVast() const { return mapping_ != nullptr && bytes_ > kVast; }
  /// Whether a run that touches so many bytes from the first on is better off with them.
  static bool isForHugePages(uint64_t bytes) { return bytes >= 2 * kHugePage; }
  /// Of vast memory, which starts without them. Only a hint.
  void useHugePages(bool use) const {
#ifdef MADV_HUGEPAGE
    (void)::madvise(data_, bytes_ - kHugePage, use ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
  }

 private:
  static constexpr uint64_t kVast = UINT64_C(64) << 20;
  static constexpr uint64_t kHugePage = UINT64_C(2) << 20;

  void swap(MemoryBlock& other) {
    std::swap(source_, other.source_);
    std::swap(mapping_, other.mapping_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    std::swap(asked_, other.asked_);
  }

  bool ask(uint64_t bytes, uint64_t alignment, const char* purpose) {
    data_ = static_cast<std::byte*>(source_.allocate(source_.user, bytes, alignment, purpose));
    if (data_ != nullptr) bytes_ = bytes;
    return data_ != nullptr;
  }

  bool map(uint64_t bytes) {
    const bool huge = bytes >= 2 * kHugePage;
    const uint64_t room = bytes + (huge ? kHugePage : 0);
    // What the system cannot promise to hold at once may still be enough for the sizes of the runs that come.
    for (const int promise : {0, MAP_NORESERVE}) {
      mapping_ = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | promise, -1, 0);
      if (mapping_ != MAP_FAILED) break;
    }
    if (mapping_ == MAP_FAILED) {
      mapping_ = nullptr;
      return false;
    }
    bytes_ = room;
    const auto address = reinterpret_cast<uintptr_t>(mapping_);
    const uintptr_t aligned = huge ? (address + kHugePage - 1) / kHugePage * kHugePage : address;
    data_ = reinterpret_cast<std::byte*>(aligned);
#ifdef MADV_HUGEPAGE
    if (huge && !isVast()) useHugePages(true);
#endif
    return true;
  }

  svod_memory source_{};
  void* mapping_ = nullptr;  // the system's
  size_t bytes_ = 0;         // to be given back
  std::byte* data_ = nullptr;
  uint64_t asked_ = 0;
};

}  // namespace svod
