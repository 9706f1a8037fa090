// Memory for plans under test in which an access beside a buffer does not go unnoticed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "svod/runtime.h"

namespace svod {

enum class Watch : uint8_t {
  End,    // "end": buffers end where an inaccessible page begins
  Start,  // "start": buffers begin where an inaccessible page ends
  Heap,   // "heap": a heap block each, for AddressSanitizer
};

/// Hands out blocks that live as long as the object. With End and Start every block has its own pages, a
/// multiple of 64 KiB that nobody can touch on both sides, and a pattern in the bytes its alignment leaves
/// over (fewer than the alignment) and in the block itself. Blocks of 0 bytes may not be touched at all.
class WatchedMemory {
 public:
  explicit WatchedMemory(Watch watch);
  WatchedMemory(const WatchedMemory&) = delete;
  ~WatchedMemory();

  /// Aligned to exactly `alignment`, a power of two up to 4096. nullptr when memory runs out.
  std::byte* take(uint64_t bytes, uint64_t alignment, std::string name);
  /// Blocks for an instance. The object must outlive the instance.
  svod_memory source(bool separate);
  /// From now on the block at `data` may only be read. Blocks on the heap stay writable.
  void makeReadOnly(const std::byte* data);

  /// "", or which bytes beside a block were overwritten.
  std::string damage() const;
  /// "4 bytes behind 'out3' (60 bytes)", or "" when the address is near no block.
  std::string describe(uintptr_t address) const;

 private:
  struct Block {
    std::string name;
    std::byte *data, *pages, *pagesEnd;
    uint64_t bytes;
  };
  std::byte* takePages(uint64_t bytes, uint64_t alignment, Block& block);

  Watch watch_;
  std::byte *region_ = nullptr,
            *next_ = nullptr;  // addresses reserved for blocks, and the first one still free
  std::vector<Block> blocks_;
};

}  // namespace svod
