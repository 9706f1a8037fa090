// What a thread of a grid knows to have happened, and memory that remembers who touched it: an access that nothing
// orders after another one is a race, whatever the order was in which they happened to run.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace svod {

/// A thread of the grid, or a group of copies that it started, or of products of its warpgroup. 0 is nobody.
struct Agent {
  static constexpr uint32_t kCopies = 0x80000000;
  uint32_t number = 0;
  static Agent thread(uint32_t thread) { return {thread + 1}; }
  static Agent copies(uint32_t group) { return {(group + 1) | kCopies}; }
  bool isCopies() const { return (number & kCopies) != 0; }
  uint32_t index() const { return (number & ~kCopies) - 1; }
  bool operator==(const Agent&) const = default;
};

/// All that had happened in the workgroup up to a moment, and which copies and products are known to be done. Moments
/// are counted over the whole launch.
struct Knowledge {
  uint32_t all = 0;                                     // every access of the workgroup's threads up to here
  std::vector<bool> copies;                             // by group
  std::vector<bool> seen;                               // copies that products see as well
  std::shared_ptr<const std::vector<uint32_t>> fenced;  // by thread: up to where products see its stores
  void join(const Knowledge& other);
  /// What both know.
  void keepCommon(const Knowledge& other);
};

/// Who accesses, at which moment, knowing what.
struct Access {
  Agent agent;
  uint32_t moment = 0;
  const Knowledge* knows = nullptr;
  Agent starter;                // of copies: the thread, whose accesses up to `moment` are known as well
  uint32_t firstThread = 0;     // of the workgroup, whose accesses `knows->all` is about
  uint32_t threads = 0;         // of it
  bool changesNothing = false;  // a store of what is there
  bool isBehindFence = false;   // of a product or a bulk copy, which see what was fenced for them
  uint32_t fencedAt = 0;        // and of the starter, up to where
};

/// Memory in the largest units of which every access so far took whole ones.
class Shadow {
 public:
  Shadow(uint64_t bytes, bool startsUnknown);

  /// Null, or what is wrong with an access of `bytes` bytes, a power of two that `at` is a multiple of; until the next
  /// call.
  const std::string* touch(uint64_t at, uint32_t bytes, bool writes, const Access& access, const char* what) {
    if (bytes < unit_) refine(bytes);
    for (uint64_t i = at / unit_; i < (at + bytes) / unit_; ++i)
      if (!touchCell(cells_[i], writes, access)) return explain(i, writes, access, what);
    return nullptr;
  }
  /// Nobody touched anything.
  void forget();

 private:
  struct Mark {
    Agent agent;
    uint32_t moment = 0;
  };
  struct Cell {
    Mark writer, readers[2];  // the last ones
  };
  static bool isKnown(const Mark& mark, const Access& access) {
    if (mark.agent.number == 0 || mark.agent == access.agent) return true;
    const uint32_t index = mark.agent.index();
    if (mark.agent.isCopies()) return index < access.knows->copies.size() && access.knows->copies[index];
    if (mark.agent == access.starter) return mark.moment <= access.moment;
    return index - access.firstThread < access.threads && mark.moment <= access.knows->all;
  }
  /// Whether a product or a bulk copy sees what others wrote.
  static bool isSeen(const Mark& mark, const Access& access) {
    if (mark.agent.number == 0) return true;
    if (mark.agent == access.starter) return access.fencedAt >= mark.moment;
    const uint32_t index = mark.agent.index();
    if (mark.agent.isCopies()) return index < access.knows->seen.size() && access.knows->seen[index];
    return access.knows->fenced && (*access.knows->fenced)[index - access.firstThread] >= mark.moment;
  }
  bool touchCell(Cell& cell, bool writes, const Access& access) const {
    if (startsUnknown_ && !writes && cell.writer.agent.number == 0) return false;
    if (access.changesNothing && cell.writer.agent.number != 0) return true;
    if (!isKnown(cell.writer, access) || (access.isBehindFence && !isSeen(cell.writer, access))) return false;
    if (writes) {
      if (!isKnown(cell.readers[0], access) || !isKnown(cell.readers[1], access)) return false;
      cell = {{access.agent, access.moment}, {}};
    } else {
      if (!(cell.readers[0].agent == access.agent)) cell.readers[1] = cell.readers[0];
      cell.readers[0] = {access.agent, access.moment};
    }
    return true;
  }
  void refine(uint32_t unit);
  const std::string* explain(uint64_t cell, bool writes, const Access& access, const char* what);

  uint32_t unit_ = 16;  // bytes
  bool startsUnknown_;
  std::vector<Cell> cells_;
  std::string wrong_;
};

}  // namespace svod
