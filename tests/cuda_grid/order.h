// What a thread of a grid knows to have happened, and memory that remembers who touched it: an access that nothing
// orders after another one is a race, whatever the order was in which they happened to run.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svod {

/// A thread of the grid, or a group of copies that it started. 0 is nobody.
struct Agent {
  static constexpr uint32_t kCopies = 0x80000000;
  uint32_t number = 0;
  static Agent thread(uint32_t thread) { return {thread + 1}; }
  static Agent copies(uint32_t group) { return {(group + 1) | kCopies}; }
  bool isCopies() const { return (number & kCopies) != 0; }
  uint32_t index() const { return (number & ~kCopies) - 1; }
  bool operator==(const Agent&) const = default;
};

/// All that had happened in the workgroup up to a moment, and which copies are known to be done. Moments are counted
/// over the whole launch.
struct Knowledge {
  uint32_t all = 0;          // every access of the workgroup's threads up to here
  std::vector<bool> copies;  // by group
  void join(const Knowledge& other);
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
};

/// Memory in units of so many bytes each.
class Shadow {
 public:
  Shadow(uint64_t bytes, uint32_t unit, bool startsUnknown);

  /// "" or what is wrong with an access of `bytes` bytes from `at` on.
  std::string touch(uint64_t at, uint32_t bytes, bool writes, const Access& access, std::string_view what);

 private:
  struct Mark {
    Agent agent;
    uint32_t moment = 0;
  };
  struct Cell {
    Mark writer, readers[2];  // the last ones
  };
  static bool isKnown(const Mark& mark, const Access& access);
  static std::string describe(Agent agent);

  uint64_t units_;
  uint32_t unit_;
  bool startsUnknown_;
  std::unique_ptr<Cell[]> cells_;
};

}  // namespace svod
