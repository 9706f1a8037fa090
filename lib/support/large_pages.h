// Memory of large arrays that are written once: not zeroed, and in pages of 2 MiB where the system lends them.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace svod {

/// For std::vector of elements that need no constructor. A vector that grows or is made with a size leaves new elements
/// as they are.
template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}  // as allocators have it

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    void* memory = ::operator new(bytes, kAlignment);
#ifdef MADV_HUGEPAGE
    (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // a system that refuses has pages of its usual size
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    if (count * sizeof(T) < kLarge) return ::operator delete(memory);
    ::operator delete(memory, kAlignment);
  }

  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }

  template <class Other>
  bool operator==(const LargePages<Other>&) const {
    return true;
  }

 private:
  static constexpr std::align_val_t kAlignment{size_t{1} << 21};
  static constexpr size_t kLarge = size_t{1} << 22;  // from which on the pages at the ends are a small part
};

using LargeBytes = std::vector<std::byte, LargePages<std::byte>>;
using LargeFloats = std::vector<float, LargePages<float>>;

}  // namespace svod
