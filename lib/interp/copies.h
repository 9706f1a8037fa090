// Copies of one thread that are under way (an internal header of the room).
#pragma once
#include <vector>

#include "interp/storage.h"

namespace svod {

/// Where a piece of memory starts, which is aligned to its size. Mismatch where it is not, or leaves its storage.
Result<std::byte*> pieceAt(UOp node, const Address& address, int64_t bytes);

/// A copy happens when the thread waits for its group, as late as it may: who reads without a wait finds what was there
/// before.
class Copies {
 public:
  /// `bytes` from one address to another; zeros where `from` is null.
  Status start(UOp node, const Address& to, const Address* from, int64_t bytes);
  void commit() { groups_.push_back(std::move(open_)), open_.clear(); }
  /// Until at most `left` groups are under way.
  void wait(size_t left);

 private:
  struct Copy {
    std::byte* to;
    const std::byte* from;  // null: zeros
    size_t bytes;
  };
  std::vector<Copy> open_;
  std::vector<std::vector<Copy>> groups_;  // the oldest first
};

}  // namespace svod
