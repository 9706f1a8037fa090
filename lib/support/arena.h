// Bump allocation: everything allocated lives until the arena dies; nothing is freed one by one.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace svod {

/// Not thread-safe; one arena belongs to one owner.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  void* allocate(size_t bytes, size_t align) {
    size_t at = (used_ + align - 1) & ~(align - 1);
    if (blocks_.empty() || at + bytes > capacity_) {
      capacity_ = bytes + align > kBlock ? bytes + align : kBlock;
      blocks_.push_back(std::make_unique<std::byte[]>(capacity_));
      at = 0;
    }
    used_ = at + bytes;
    return blocks_.back().get() + at;
  }

  /// Copies `items` into the arena. Elements are never destroyed, so they must be trivial.
  template <class T>
  std::span<const T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    if (items.empty()) return {};
    auto* to = static_cast<T*>(allocate(items.size_bytes(), alignof(T)));
    std::memcpy(static_cast<void*>(to), items.data(), items.size_bytes());
    return {to, items.size()};
  }
  std::string_view copy(std::string_view text) {
    auto chars = copy(std::span<const char>(text.data(), text.size()));
    return {chars.data(), chars.size()};
  }

 private:
  static constexpr size_t kBlock = 1 << 16;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  size_t used_ = 0, capacity_ = 0;
};

}  // namespace svod
