// Which process this is: a forked child has the memory of its parent, but of its threads only the one that forked.
#pragma once
#include <atomic>
#include <cstdint>

namespace svod {

/// Another number in a forked child than in its parent and in theirs; never 0. It costs a load.
uint32_t thisProcess();

/// The process that an object with threads or locks belongs to.
class Owner {
 public:
  bool isHere() const { return process_.load(std::memory_order_acquire) == thisProcess(); }
  /// In a forked child `renew` is called once, before anybody returns from here: what the parent's threads held or were
  /// to do there is void.
  void adopt(void (*renew)(void* object), void* object) {
    if (!isHere()) change(renew, object);
  }

 private:
  void change(void (*renew)(void* object), void* object);

  static constexpr uint32_t kChanging = 0;
  std::atomic<uint32_t> process_{thisProcess()};
};

}  // namespace svod
