// Bytes that begin where a cache line does, as the memory of an arena: kernels that write past the caches do so where
// their vectors are aligned.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace svod {

inline constexpr std::size_t kLineBytes = 64;

template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{kLineBytes})); }
  void deallocate(T* data, std::size_t) { ::operator delete(data, std::align_val_t{kLineBytes}); }
  bool operator==(const LineAllocator&) const { return true; }
};

using AlignedBytes = std::vector<std::byte, LineAllocator<std::byte>>;

}  // namespace svod
