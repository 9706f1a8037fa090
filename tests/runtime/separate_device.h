// A device on a thread of the host: its addresses cannot be read or written by anybody, its queue runs late, and it
// fails when it is told to.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "runtime-min/device.h"

namespace svod {

class SeparateDevice : public Device {
 public:
  /// Before each piece of work it waits up to `mostMicroseconds`, drawn from `seed`.
  /// Devices that share a `unit` work in turns: queues of one device.
  SeparateDevice(uint32_t seed, uint32_t mostMicroseconds, std::shared_ptr<std::mutex> unit = nullptr)
      : random_(seed), most_(mostMicroseconds), unit_(std::move(unit)) {
    thread_ = std::thread([this] { main(); });
  }
  ~SeparateDevice() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// The work that comes after `pieces` more fails; with `forgets` all that the memory holds is gone, too.
  void failAfter(uint64_t pieces, bool forgets) {
    const std::lock_guard lock(mutex_);
    failAt_ = given_ + pieces + 1, forgets_ = forgets;
  }
  /// The device is lost with the work that comes after `pieces` more.
  void loseAfter(uint64_t pieces) {
    const std::lock_guard lock(mutex_);
    loseAt_ = given_ + pieces + 1;
  }
  /// There is no memory after `count` more allocations.
  void refuseMemoryAfter(uint64_t count) { memoryLeft_ = count; }
  uint64_t given() const { return given_; }
  /// How often the host waited.
  uint64_t waits() const { return waits_; }
  void useNoEvents() { hasNoEvents_ = true; }
  /// Copies from or to the host that were given.
  uint64_t transfers() const { return transfers_; }
  size_t allocations() const { return spaces_.size(); }

  Result<void*> allocate(uint64_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (isLost_ || memoryLeft_ == 0) return svod::fail(Diag::DeviceFailure, "the device has no memory");
    memoryLeft_--;
    Space space{map(bytes, PROT_NONE), map(bytes, PROT_READ | PROT_WRITE), bytes};
    std::memset(space.real, 0x7f, bytes);
    spaces_[space.address] = space;
    return static_cast<void*>(space.address);
  }
  void release(void* memory, uint64_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (isLost_) std::abort();
    const Space space = spaces_.at(static_cast<char*>(memory));
    ::munmap(space.address, bytes);
    ::munmap(space.real, bytes);
    spaces_.erase(space.address);
  }

  Ticket launch(const DeviceLaunch& given, uint32_t tag) override {
    return enqueue(tag, [this, given] {
      std::vector<void*> buffers;
      for (uint32_t i = 0; i < given.bufferCount; i++) buffers.push_back(real(given.buffers[i], 0));
      return run(given, buffers);
    });
  }
  Ticket copyIn(void* to, const void* fromHost, uint64_t bytes, uint32_t tag) override {
    transfers_++;
    return enqueue(tag, [this, to, fromHost, bytes] {
      std::memcpy(real(to, bytes), fromHost, bytes);
      return "";
    });
  }
  Ticket copyOut(void* toHost, const void* from, uint64_t bytes, uint32_t tag) override {
    transfers_++;
    return enqueue(tag, [this, toHost, from, bytes] {
      std::memcpy(toHost, real(from, bytes), bytes);
      return "";
    });
  }
  Ticket copyWithin(void* to, const void* from, uint64_t bytes, uint32_t tag) override {
    return enqueue(tag, [this, to, from, bytes] {
      std::memmove(real(to, bytes), real(from, bytes), bytes);
      return "";
    });
  }

  Ticket waitFor(Device& other, Ticket ticket, uint32_t tag) override {
    auto* after = dynamic_cast<SeparateDevice*>(&other);
    return after == nullptr || hasNoEvents_ ? 0 : enqueue(tag, [] { return ""; }, after, ticket);
  }

  std::optional<Failure> wait(Ticket ticket) override {
    std::unique_lock lock(mutex_);
    waits_++;
    changed_.wait(lock, [&] { return done_ >= ticket; });
    return failure_;
  }
  void reset() override {
    std::unique_lock lock(mutex_);
    if (isLost_) std::abort();
    changed_.wait(lock, [&] { return done_ == given_; });
    failure_.reset();
  }
  bool isLost() const override { return isLost_; }

 protected:
  /// How much each buffer of a launch has of what the plan says: no more than up to the next one, or to the end of the
  /// memory that was asked for. An arena that is laid out for the run has less than at the greatest sizes.
  std::vector<uint64_t> roomOf(const DeviceLaunch& launch, std::span<const KernelArg> args) {
    const std::lock_guard lock(mutex_);
    std::vector<uint64_t> room;
    for (size_t i = 0; i < args.size(); i++) {
      char* const address = static_cast<char*>(launch.buffers[i]);
      const Space& space = std::prev(spaces_.upper_bound(address))->second;
      char* end = std::min(address + args[i].bytes, space.address + space.bytes);
      for (size_t k = 0; k < args.size(); k++)
        if (char* const next = static_cast<char*>(launch.buffers[k]); next > address) end = std::min(end, next);
      room.push_back(static_cast<uint64_t>(end - address));
    }
    return room;
  }

 private:
  struct Space {
    char *address = nullptr, *real = nullptr;
    uint64_t bytes = 0;
  };
  struct Piece {
    uint32_t tag;
    std::function<std::string()> work;  // what went wrong, "" for nothing
    SeparateDevice* after;              // whose ticket it waits for, or null
    Ticket ticket;
  };

  /// On the thread of the device, with addresses that can be read. What went wrong, "" for nothing, is the failure of
  /// the launch.
  virtual std::string run(const DeviceLaunch& launch, std::span<void* const> buffers) {
    std::vector<std::max_align_t> scratch(launch.scratchBytes / sizeof(std::max_align_t) + 1);
    launch.function(buffers.data(), launch.values, 0, launch.tiles, scratch.data());
    return "";
  }
  static char* map(uint64_t bytes, int protection) {
    void* memory = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<char*>(memory);
  }
  /// On the thread of the device. An address that is none of its own ends the test.
  void* real(const void* given, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    char* address = const_cast<char*>(static_cast<const char*>(given));
    auto space = spaces_.upper_bound(address);
    if (space == spaces_.begin()) std::abort();
    const Space& found = std::prev(space)->second;
    if (address + bytes > found.address + found.bytes) std::abort();
    return found.real + (address - found.address);
  }
  Ticket enqueue(uint32_t tag, std::function<std::string()> work, SeparateDevice* after = nullptr, Ticket ticket = 0) {
    const std::lock_guard lock(mutex_);
    queue_.push_back({tag, std::move(work), after, ticket});
    changed_.notify_all();
    return ++given_;
  }
  void waitQuietly(Ticket ticket) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= ticket; });
  }
  void main() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const Piece piece = std::move(queue_.front());
      queue_.pop_front();
      if (done_ + 1 == failAt_) fail(piece.tag);
      if (done_ + 1 == loseAt_) isLost_ = true, failure_ = {piece.tag, "the device is lost"};
      const bool runs = !failure_;
      const auto delay = std::chrono::microseconds(most_ == 0 ? 0 : random_() % most_);
      lock.unlock();
      if (piece.after != nullptr) piece.after->waitQuietly(piece.ticket);
      if (runs && delay.count() > 0) std::this_thread::sleep_for(delay);
      std::string wrong;
      if (runs) {
        const auto turn = unit_ ? std::unique_lock(*unit_) : std::unique_lock<std::mutex>();
        wrong = piece.work();
      }
      lock.lock();
      if (!wrong.empty()) failure_ = {piece.tag, std::move(wrong)};
      done_++;
      changed_.notify_all();
    }
  }
  void fail(uint32_t tag) {
    failure_ = {tag, forgets_ ? "its memory is lost" : "injected"};
    if (forgets_)
      for (const auto& [address, space] : spaces_) std::memset(space.real, 0x7f, space.bytes);
  }

  std::mt19937 random_;
  const uint32_t most_;
  const std::shared_ptr<std::mutex> unit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> queue_;
  std::map<char*, Space> spaces_;
  uint64_t given_ = 0, done_ = 0, failAt_ = 0, loseAt_ = 0, memoryLeft_ = UINT64_MAX;
  std::atomic<bool> isLost_ = false;
  std::atomic<uint64_t> transfers_{0}, waits_{0};
  bool hasNoEvents_ = false;
  bool forgets_ = false, closing_ = false;
  std::optional<Failure> failure_;
  std::thread thread_;
};

}  // namespace svod
