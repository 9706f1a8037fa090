#include "measure/cold_caches.h"

#include <cstdint>
#include <vector>

#include "machine/host.h"

namespace svod {

namespace {

constexpr size_t kLine = 64;

#if defined(__x86_64__)
void cool(const std::byte* line) { __builtin_ia32_clflush(line); }
void finish() { __builtin_ia32_mfence(); }
constexpr bool kHasInstruction = true;
#elif defined(__aarch64__)
void cool(const std::byte* line) { asm volatile("dc civac, %0" ::"r"(line) : "memory"); }
void finish() { asm volatile("dsb ish" ::: "memory"); }
constexpr bool kHasInstruction = true;
#else
void cool(const std::byte*) {}
void finish() {}
constexpr bool kHasInstruction = false;
#endif

void readMuch() {
  const HostCaches caches = hostCaches();
  const std::vector<std::byte> much(static_cast<size_t>(2 * (caches.l2 + caches.l3)), std::byte{1});
  volatile unsigned sum = 0;
  for (size_t i = 0; i < much.size(); i += kLine) sum = sum + static_cast<unsigned>(much[i]);
}

}  // namespace

void coolCaches(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (!kHasInstruction) return readMuch();
  const auto first = reinterpret_cast<uintptr_t>(bytes.data()) / kLine * kLine;
  for (uintptr_t at = first; at < reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()); at += kLine)
    cool(reinterpret_cast<const std::byte*>(at));
  finish();
}

}  // namespace svod
