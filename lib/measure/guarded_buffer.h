// Guard pages: a buffer between pages that nobody may touch, so that an access outside of it is a fault.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace svod {

/// Bytes at an address aligned as buffers of a plan are, with pages without any access before and behind. What lies
/// between them and the bytes holds a pattern. Large ones lie in huge pages, as in a plan: how long a kernel waits for
/// memory that it walks through across its lines depends on them.
class GuardedBuffer {
 public:
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  ~GuardedBuffer();

  /// Nothing where the system has no memory for it.
  static std::optional<GuardedBuffer> make(uint64_t bytes);

  std::span<std::byte> bytes() const { return {data_, size_}; }
  /// From here on nothing may be written to it.
  void makeReadOnly();
  /// Whether `address` lies between the guard pages.
  bool holds(const void* address) const;
  /// Whether `address` lies in one of its guard pages.
  bool guards(const void* address) const;
  /// Whether what lies between the bytes and the guard pages is as it was.
  bool isUntouchedAround() const;

 private:
  GuardedBuffer() = default;
  /// Addresses for all of it, what lies behind the first guard page aligned so.
  bool reserve(uint64_t alignment);

  std::byte *map_ = nullptr, *data_ = nullptr;
  uint64_t mapped_ = 0, size_ = 0, page_ = 0;
};

}  // namespace svod
