// A file of its own: inlined next to callers, replaced operators confuse the compiler's checks.
#include "runtime/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<uint64_t> count{0};
uint64_t lookups = 0;
}  // namespace

uint64_t svod::allocationCount() { return count.load(); }
uint64_t svod::lookupCount() { return __atomic_load_n(&lookups, __ATOMIC_RELAXED); }

extern "C" void* __real_dlsym(void* library, const char* symbol);
// A sanitizer looks its own functions up before it can watch anything.
#if defined(__clang__)
#define SVOD_UNWATCHED __attribute__((disable_sanitizer_instrumentation))
#else
#define SVOD_UNWATCHED
#endif
extern "C" SVOD_UNWATCHED void* __wrap_dlsym(void* library, const char* symbol) {
  __atomic_fetch_add(&lookups, 1, __ATOMIC_RELAXED);
  return __real_dlsym(library, symbol);
}

// All unaligned forms, because a sanitizer brings its own for those that are left out.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  count++;
  return std::malloc(size);
}
void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
