#include "embed/processor_code.h"

#include <cstdio>
#include <map>
#include <optional>
#include <vector>

#include "support/cpu_features.h"

namespace svod {

namespace {

/// Bits that must be set in a word which the code has read.
struct Bits {
  std::string word;
  uint64_t mask = 0;
};

constexpr const char* kOnX86 = R"(#include <stdint.h>
static void read(uint32_t leaf, uint32_t part, uint32_t* r) {
  __asm__("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(part));
}
/* All zeros where the processor has no such leaf. */
static void leaf(uint32_t number, uint32_t part, uint32_t* r) {
  read(number & 0x80000000u, 0, r);
  uint32_t last = r[0];
  if (last >= number && part > 0) {
    read(number, 0, r);
    if (r[0] < part) last = 0;
  }
  if (last >= number) read(number, part, r);
  else r[0] = r[1] = r[2] = r[3] = 0;
}
/* The registers that the system saves. */
static uint64_t saved(void) {
  uint32_t low, high, r[4];
  leaf(1, 0, r);
  if ((r[2] >> 27 & 1) == 0) return 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}
)";
constexpr const char* kElsewhere = "#include <stdint.h>\nunsigned long getauxval(unsigned long);\n";
constexpr const char* kOnce = R"(int32_t svod_processor(void) {
  static int32_t found = -1;
  int32_t known = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (known >= 0) return known;
  known = choose();
  __atomic_store_n(&found, known, __ATOMIC_RELAXED);
  return known;
}
)";

std::string hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llxu", static_cast<unsigned long long>(number));
  return text;
}

/// The words that tell of the features of one architecture, and what each feature is there.
class Words {
 public:
  explicit Words(Arch arch) : arch_(arch) {}

  /// Nothing for a feature that the table does not know.
  std::optional<std::vector<Bits>> of(const std::string& feature) {
    constexpr int AT_HWCAP = 16, AT_HWCAP2 = 26;  // as Linux numbers them
    using List = std::vector<Bits>;
#define X86(name, leaf, subleaf, reg, bit, state) \
  if (arch_ == Arch::X86_64 && feature == (name)) return x86(leaf, subleaf, reg, bit, SavedState::state);
#define REPORTED(arch, name, entry, bit) \
  if (arch_ == (arch) && feature == (name)) return List{{reported(entry), uint64_t{1} << (bit)}};
#define ARM(name, entry, bit) REPORTED(Arch::AArch64, name, entry, bit)
#define ARM32(name, entry, bit) REPORTED(Arch::Arm, name, entry, bit)
#define RISCV(name, entry, bit) REPORTED(Arch::RiscV64, name, entry, bit)
#include "support/cpu_features.def"
#undef X86
#undef ARM
#undef ARM32
#undef RISCV
#undef REPORTED
    return std::nullopt;
  }

  /// What reads the words, as statements.
  std::string reading() const {
    std::string text;
    if (!leaves_.empty()) text += "  uint32_t r[" + std::to_string(leaves_.size()) + "][4];\n";
    for (const auto& [leaf, index] : leaves_)
      text +=
          "  leaf(" + hex(leaf.first) + ", " + std::to_string(leaf.second) + ", r[" + std::to_string(index) + "]);\n";
    return text;
  }

 private:
  std::vector<Bits> x86(uint32_t leaf, uint32_t part, int reg, int bit, SavedState state) {
    const size_t index = leaves_.try_emplace({leaf, part}, leaves_.size()).first->second;
    std::vector<Bits> bits = {{"r[" + std::to_string(index) + "][" + std::to_string(reg) + "]", uint64_t{1} << bit}};
    if (state != SavedState::None) bits.push_back({"saved()", static_cast<uint64_t>(state)});
    return bits;
  }
  static std::string reported(int entry) { return "getauxval(" + std::to_string(entry) + ")"; }

  const Arch arch_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> leaves_;
};

/// Whether a machine has all features of a processor.
std::string condition(const Processor& processor, Words& words) {
  std::map<std::string, uint64_t> masks;
  for (const std::string& feature : processor.features) {
    const std::optional<std::vector<Bits>> all = words.of(feature);
    if (!all) return "0";
    for (const Bits& bits : *all) masks[bits.word] |= bits.mask;
  }
  std::string text;
  for (const auto& [word, mask] : masks)
    text += (text.empty() ? "" : " && ") + ("(" + word + " & " + hex(mask) + ") == " + hex(mask));
  return text.empty() ? "1" : text;
}

}  // namespace

std::string processorCode(std::span<const Processor> processors, Arch arch) {
  Words words(arch);
  std::string choices;
  for (size_t i : byPreference(processors))
    choices += "  if (" + condition(processors[i], words) + ") return " + std::to_string(i) + ";\n";
  return (arch == Arch::X86_64 ? kOnX86 : kElsewhere) + ("static int32_t choose(void) {\n" + words.reading()) +
         choices + "  return " + std::to_string(processors.size()) + ";\n}\n" + kOnce;
}

}  // namespace svod
