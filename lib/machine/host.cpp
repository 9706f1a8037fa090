#include "machine/host.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

namespace svod {

namespace {

std::string firstWord(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// "32K", "1024K" or "8M" as bytes; 0 for anything else.
int64_t parseSize(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const char unit = end == text.data() + text.size() ? ' ' : *end;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

/// How many numbers "0-3,8,10-11" names; 0 for anything else.
int countOf(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    int first = 0, last = 0;
    const char* const end = range.data() + range.size();
    auto [at, error] = std::from_chars(range.data(), end, first);
    if (error != std::errc()) return 0;
    last = first;
    if (at != end && (*at != '-' || std::from_chars(at + 1, end, last).ec != std::errc())) return 0;
    count += std::max(0, last - first + 1);
  }
  return count;
}

}  // namespace

HostCaches hostCaches() {
  constexpr int kMaxCaches = 8;
  HostCaches caches;
  for (int i = 0; i < kMaxCaches; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = firstWord(folder + "level");
    if (level.empty()) break;
    if (firstWord(folder + "type") == "Instruction") continue;
    const int64_t bytes = parseSize(firstWord(folder + "size"));
    if (level == "1") caches.l1 = bytes;
    if (level == "2") caches.l2 = bytes;
    if (level == "3") caches.l3 = bytes;
    caches.line = parseSize(firstWord(folder + "coherency_line_size"));
  }
  return caches;
}

std::string hostVendor() {
#if defined(__x86_64__)
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return {};
  std::string vendor;
  for (const uint32_t word : {ebx, edx, ecx})
    for (int shift = 0; shift < 32; shift += 8) vendor += static_cast<char>((word >> shift) & 0xff);
  return vendor;
#elif defined(__APPLE__)
  return "Apple";
#else
  return {};
#endif
}

int hostCores() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int hostProcessors() { return std::max(countOf(firstWord("/sys/devices/system/cpu/online")), hostCores()); }

}  // namespace svod
