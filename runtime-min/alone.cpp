// What the C++ library asks of its environment, where it is a part of the runtime library, which has no exceptions: so
// no unwinder, no types known by name, no handlers. Errors are values there; work for which the system has no memory is
// refused before it begins (hasMemory), and should the little that it asks for be missing in between, the program ends.
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* allocate(size_t bytes, size_t alignment) {
  const size_t whole = bytes == 0 ? 1 : bytes;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(whole);
  return std::aligned_alloc(alignment, (whole + alignment - 1) / alignment * alignment);
}

void* needed(void* memory) {
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

const std::nothrow_t std::nothrow{};

void* operator new(size_t bytes) { return needed(allocate(bytes, 1)); }
void* operator new[](size_t bytes) { return needed(allocate(bytes, 1)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t to) { return needed(allocate(bytes, static_cast<size_t>(to))); }
void* operator new[](size_t bytes, std::align_val_t to) { return needed(allocate(bytes, static_cast<size_t>(to))); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

#ifdef __GLIBCXX__
// Broken promises inside the runtime: they end the program.
namespace std {
void terminate() noexcept { abort(); }
void __throw_length_error(const char*) { abort(); }
void __throw_logic_error(const char*) { abort(); }
void __throw_out_of_range(const char*) { abort(); }
void __throw_out_of_range_fmt(const char*, ...) { abort(); }
void __throw_bad_alloc() { abort(); }
void __throw_bad_array_new_length() { abort(); }
void __throw_system_error(int) { abort(); }
}  // namespace std

extern "C" {
void __cxa_pure_virtual() { std::abort(); }
// Named by parts of the C++ library that are compiled with exceptions.
int __gxx_personality_v0() { std::abort(); }
void _Unwind_Resume(void*) { std::abort(); }
void* __cxa_begin_catch(void*) { std::abort(); }
void __cxa_end_catch() { std::abort(); }
void __cxa_rethrow() { std::abort(); }
// Of one C library alone: whether the program has had one thread only, and may count without atomic instructions. Other
// C libraries link the runtime as well, where it answers this itself.
extern char __libc_single_threaded;
[[gnu::visibility("hidden")]] char __libc_single_threaded = 0;
}
#endif
