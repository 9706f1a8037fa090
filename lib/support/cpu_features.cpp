#include "support/cpu_features.h"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace svod {

#if defined(__x86_64__)
namespace {

struct X86Feature {
  char name[16];  // in place: a pointer would cost as much again when the library is loaded
  uint32_t leaf;
  uint8_t subleaf, reg, bit;
  SavedState state;
};

constexpr X86Feature kFeatures[] = {
#define X86(name, leaf, subleaf, reg, bit, state) {name, leaf, subleaf, reg, bit, SavedState::state},
#include "support/cpu_features.def"
#undef X86
};

/// Asks for each leaf once: on a virtual machine an answer takes tens of microseconds.
class Cpuid {
 public:
  bool bit(uint32_t leaf, uint32_t subleaf, int reg, int bit) {
    auto at = std::ranges::find_if(known_, [&](const Leaf& l) { return l.leaf == leaf && l.subleaf == subleaf; });
    if (at == known_.end()) at = known_.insert(at, {leaf, subleaf, ask(leaf, subleaf)});
    return ((at->regs[static_cast<size_t>(reg)] >> bit) & 1) != 0;
  }

 private:
  using Registers = std::array<uint32_t, 4>;
  struct Leaf {
    uint32_t leaf, subleaf;
    Registers regs;
  };

  static Registers ask(uint32_t leaf, uint32_t subleaf) {
    Registers regs{};
    if (__get_cpuid_max(leaf & 0x80000000u, nullptr) < leaf) return {};
    // A subleaf beyond the count in subleaf 0 may repeat another leaf's data on old CPUs.
    if (subleaf > 0) {
      __cpuid_count(leaf, 0, regs[0], regs[1], regs[2], regs[3]);
      if (regs[0] < subleaf) return {};
    }
    __cpuid_count(leaf, subleaf, regs[0], regs[1], regs[2], regs[3]);
    return regs;
  }

  std::vector<Leaf> known_;
};

constexpr uint64_t kTileData = uint64_t{1} << kTileState;

/// Whether a process may ask the system for registers of tiles.
bool givesTiles() {
#if defined(__linux__)
  constexpr long kSupported = 0x1021;  // of arch_prctl: bits as in XCR0
  uint64_t supported = 0;
  return syscall(SYS_arch_prctl, kSupported, &supported) == 0 && (supported & kTileData) != 0;
#else
  return false;
#endif
}

uint64_t savedState(Cpuid& cpuid) {
  constexpr int kOsxsaveBit = 27;
  if (!cpuid.bit(1, 0, 2, kOsxsaveBit)) return 0;
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const uint64_t saved = (uint64_t{high} << 32) | low;
  return (saved & kTileData) != 0 && !givesTiles() ? saved & ~kTileData : saved;
}

}  // namespace

std::vector<std::string_view> hostCpuFeatures() {
  Cpuid cpuid;
  const uint64_t saved = savedState(cpuid);
  const auto usable = [saved](SavedState state) {
    const auto needed = static_cast<uint64_t>(state);
    return (saved & needed) == needed;
  };
  std::vector<std::string_view> names;
  for (const X86Feature& f : kFeatures)
    if (usable(f.state) && cpuid.bit(f.leaf, f.subleaf, f.reg, f.bit)) names.push_back(f.name);
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

bool needTiles(std::span<const std::string> features) {
  return std::ranges::find(features, kTileFeature) != features.end();
}

bool requestTiles() {
#if defined(__x86_64__) && defined(__linux__)
  return syscall(SYS_arch_prctl, kRequestState, kTileState) == 0;
#else
  return false;
#endif
}

std::vector<std::string> missingCpuFeatures(std::span<const std::string> needed,
                                            std::span<const std::string_view> present) {
  std::vector<std::string> missing;
  for (const std::string& name : needed)
    if (std::find(present.begin(), present.end(), name) == present.end()) missing.push_back(name);
  return missing;
}

}  // namespace svod
