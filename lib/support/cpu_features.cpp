#include "support/cpu_features.h"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace svod {

#if defined(__x86_64__)
namespace {

struct X86Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  int reg, bit;
  SavedState state;
};

constexpr X86Feature kFeatures[] = {
#define X86(name, leaf, subleaf, reg, bit, state) {name, leaf, subleaf, reg, bit, SavedState::state},
#include "support/cpu_features.def"
#undef X86
};

bool cpuidBit(uint32_t leaf, uint32_t subleaf, int reg, int bit) {
  uint32_t regs[4] = {};
  if (__get_cpuid_max(leaf & 0x80000000u, nullptr) < leaf) return false;
  // A subleaf beyond the count in subleaf 0 may repeat another leaf's data on old CPUs.
  if (subleaf > 0) {
    __cpuid_count(leaf, 0, regs[0], regs[1], regs[2], regs[3]);
    if (regs[0] < subleaf) return false;
  }
  __cpuid_count(leaf, subleaf, regs[0], regs[1], regs[2], regs[3]);
  return ((regs[reg] >> bit) & 1) != 0;
}

uint64_t savedState() {
  constexpr int kOsxsaveBit = 27;
  if (!cpuidBit(1, 0, 2, kOsxsaveBit)) return 0;
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

}  // namespace

std::vector<std::string_view> hostCpuFeatures() {
  const uint64_t saved = savedState();
  const auto usable = [saved](SavedState state) {
    const auto needed = static_cast<uint64_t>(state);
    return (saved & needed) == needed;
  };
  std::vector<std::string_view> names;
  for (const X86Feature& f : kFeatures)
    if (usable(f.state) && cpuidBit(f.leaf, f.subleaf, f.reg, f.bit)) names.push_back(f.name);
  return names;
}

#elif defined(__linux__)

std::vector<std::string_view> hostCpuFeatures() {
  std::vector<std::string_view> names;
#define REPORTED(name, entry, bit) \
  if (((getauxval(entry) >> (bit)) & 1) != 0) names.push_back(name);
#if defined(__aarch64__)
#define ARM REPORTED
#elif defined(__arm__)
#define ARM32 REPORTED
#elif defined(__riscv)
#define RISCV REPORTED
#endif
#include "support/cpu_features.def"
#undef ARM
#undef ARM32
#undef RISCV
#undef REPORTED
  return names;
}

#else

std::vector<std::string_view> hostCpuFeatures() { return {}; }

#endif

std::vector<std::string> missingCpuFeatures(std::span<const std::string> needed,
                                            std::span<const std::string_view> present) {
  std::vector<std::string> missing;
  for (const std::string& name : needed)
    if (std::find(present.begin(), present.end(), name) == present.end()) missing.push_back(name);
  return missing;
}

}  // namespace svod
