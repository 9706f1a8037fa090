#include "machine/cpu.h"

#include <algorithm>

#include "machine/host.h"
#include "support/cpu_features.h"
#include "support/suggest.h"

namespace svod {

namespace {

struct CpuRow {
  std::string_view name;
  Arch arch;
  std::string_view vendor, base, features;
  int vectorBytes, vectorRegisters, fmaPerCycle, fmaLatency, issued;
  double gatheredLane;
  int64_t l1KiB, l2KiB, l3KiB;
  int cores, clockMHz, l3MBs, memoryMBs;
};

constexpr CpuRow kCpus[] = {
#define CPU(name, arch, vendor, base, features, bytes, registers, fma, latency, issued, lane, l1, l2, l3, cores, \
            clock, l3rate, memory)                                                                               \
  {name,   Arch::arch, vendor, base, features, bytes, registers, fma,    latency,                                \
   issued, lane,       l1,     l2,   l3,       cores, clock,     l3rate, memory},
#include "machine/cpus.def"
#undef CPU
};

struct ArchRow {
  Arch arch;
  std::string_view name, triple;
  std::string_view others;  // what triples of it begin with besides its name
};

constexpr ArchRow kArchs[] = {
    {Arch::X86_64, "x86_64", "x86_64-unknown-linux-gnu", "amd64"},
    {Arch::AArch64, "aarch64", "aarch64-unknown-linux-gnu", "arm64"},
    {Arch::Arm, "armv7", "armv7-unknown-linux-gnueabihf", "armv7a armv7l"},
    {Arch::RiscV64, "riscv64", "riscv64-unknown-linux-gnu", "riscv64gc"},
    {Arch::Wasm32, "wasm32", "wasm32-unknown-unknown", ""},
};

/// What the same processors, or the same instructions, are called elsewhere.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"zen2", "znver2"},          {"zen3", "znver3"},
    {"zen4", "znver4"},          {"zen5", "znver5"},
    {"avx2", "x86-64-v3"},       {"avx512", "x86-64-v4"},
    {"broadwell", "haswell"},    {"icelake", "icelake-server"},
    {"raptorlake", "alderlake"}, {"emeraldrapids", "sapphirerapids"},
    {"armv8", "armv8-a"},
};

const ArchRow& rowOf(Arch arch) { return kArchs[static_cast<size_t>(arch)]; }

const CpuRow* findCpu(Arch arch, std::string_view name) {
  for (const CpuRow& row : kCpus)
    if (row.arch == arch && row.name == name) return &row;
  return nullptr;
}

const CpuRow& baseline(Arch arch) {
  return *std::find_if(std::begin(kCpus), std::end(kCpus), [arch](const CpuRow& row) { return row.arch == arch; });
}

void appendWords(std::string_view text, std::vector<std::string>& words) {
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
}

std::vector<std::string> featuresOf(const CpuRow& row) {
  std::vector<std::string> names;
  for (const CpuRow* at = &row; at != nullptr; at = findCpu(row.arch, at->base)) appendWords(at->features, names);
  std::sort(names.begin(), names.end());
  return names;
}

CpuTarget fromRow(const CpuRow& row, std::string_view triple) {
  return {.triple = std::string(triple),
          .arch = row.arch,
          .name = std::string(row.name),
          .features = featuresOf(row),
          .vectorBytes = row.vectorBytes,
          .vectorRegisters = row.vectorRegisters,
          .fmaPerCycle = row.fmaPerCycle,
          .fmaLatency = row.fmaLatency,
          .issued = row.issued,
          .gatheredLane = row.gatheredLane,
          .l1Bytes = row.l1KiB << 10,
          .l2Bytes = row.l2KiB << 10,
          .l3Bytes = row.l3KiB << 10,
          .cores = row.cores,
          .clockMHz = row.clockMHz,
          .l3MBs = row.l3MBs,
          .memoryMBs = row.memoryMBs};
}

// A virtual machine tells the L3 of the whole processor, though the cores it was not given use it as well. More than
// this has hardly a core to itself, and where one has, large results that are written past the cache lose little.
constexpr int64_t kMostL3PerCore = 8 << 20;

// Features come from the machine itself; throughput figures from the row of the table that describes it best.
CpuTarget readHost(std::string_view triple, Arch arch) {
  const std::string vendor = hostVendor();
  const auto present = hostCpuFeatures();
  const CpuRow* best = &baseline(arch);
  for (const CpuRow& row : kCpus)
    if (row.arch == arch && (row.vendor.empty() || row.vendor == vendor) &&
        missingCpuFeatures(featuresOf(row), present).empty())
      best = &row;
  CpuTarget cpu = fromRow(*best, triple);
  cpu.features.assign(present.begin(), present.end());
  std::sort(cpu.features.begin(), cpu.features.end());
  const HostCaches caches = hostCaches();
  if (caches.l1 > 0) cpu.l1Bytes = caches.l1;
  if (caches.l2 > 0) cpu.l2Bytes = caches.l2;
  if (caches.line > 0) cpu.lineBytes = caches.line;
  cpu.cores = hostCores();
  if (caches.l3 > 0) cpu.l3Bytes = std::min(caches.l3, cpu.cores * kMostL3PerCore);
  return cpu;
}

std::string joined(const auto& words, std::string_view separator) {
  std::string text;
  for (const auto& word : words) (text += text.empty() ? std::string_view() : separator) += word;
  return text;
}

std::string sizeText(int64_t bytes) {
  return bytes % (1 << 20) == 0 ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes >> 10) + " KiB";
}

}  // namespace

std::string_view toText(Arch arch) { return rowOf(arch).name; }
std::string_view tripleOf(Arch arch) { return rowOf(arch).triple; }

std::span<const Arch> architectures() {
  static constexpr Arch kAll[] = {Arch::X86_64, Arch::AArch64, Arch::Arm, Arch::RiscV64, Arch::Wasm32};
  return kAll;
}

bool CpuTarget::has(std::string_view feature) const {
  return std::binary_search(features.begin(), features.end(), feature, std::less<std::string_view>());
}
bool CpuTarget::hasElf() const { return arch != Arch::Wasm32; }
bool CpuTarget::has32BitPointers() const { return arch == Arch::Arm || arch == Arch::Wasm32; }
bool CpuTarget::hasFma() const { return arch == Arch::AArch64 || arch == Arch::RiscV64 || has("fma") || has("vfp4"); }
bool CpuTarget::hasRounding() const { return arch == Arch::AArch64 || arch == Arch::Wasm32 || has("sse4.1"); }
bool CpuTarget::hasScaleb() const { return has("avx512f") && has("avx512vl"); }
bool CpuTarget::hasMasks() const { return has("avx512vl"); }
int CpuTarget::maskedBytes() const { return hasMasks() ? 1 : has("avx") ? 4 : 0; }
bool CpuTarget::hasMixedDots() const { return arch == Arch::X86_64 || has("i8mm"); }
// x86 before VNNI multiplies pairs of i16, whatever the signs of the bytes were.
bool CpuTarget::hasLikeDots() const {
  const bool hasVnni = has("avxvnni") || (has("avx512vnni") && has("avx512vl"));
  return arch == Arch::X86_64 ? !hasVnni : has("dotprod");
}
bool CpuTarget::hasBf16Dots() const {
  return arch == Arch::X86_64 ? has("avx512bf16") && has("avx512vl") : has("bf16");
}

std::string hostTriple() {
#if defined(__x86_64__)
  return std::string(tripleOf(Arch::X86_64));
#else
  return std::string(tripleOf(Arch::AArch64));
#endif
}

std::vector<std::string_view> cpuNames(Arch arch) {
  std::vector<std::string_view> names;
  for (const CpuRow& row : kCpus)
    if (row.arch == arch) names.push_back(row.name);
  return names;
}

Result<Arch> archOfTriple(std::string_view triple) {
  const std::string first(triple.substr(0, triple.find('-')));
  std::string known;
  for (const ArchRow& row : kArchs) {
    std::vector<std::string> names = {std::string(row.name)};
    appendWords(row.others, names);
    const bool isSystem = row.arch == Arch::Wasm32 || triple.find("linux") != std::string_view::npos;
    if (isSystem && std::ranges::find(names, first) != names.end()) return row.arch;
    known += (known.empty() ? "" : row.arch == Arch::Wasm32 ? " or " : ", ") + std::string(row.triple);
  }
  return fail(Diag::Unsupported, "no code generator for the triple '" + std::string(triple) + "'",
              "use " + known + ", or --target c --cc none for other machines");
}

namespace {

/// The help for a CPU that this architecture has not: what it is called here, or which other one has it.
std::string nearestCpus(Arch arch, std::string_view cpu) {
  std::vector<std::string_view> names = cpuNames(arch);
  names.insert(names.begin(), "native");
  const std::string all = choicesFor({}, names);
  for (const auto& [other, name] : kOtherNames)
    if (other == cpu && findCpu(arch, name) != nullptr) return "use '" + std::string(name) + "' for it; " + all;
  if (!closestName(cpu, names).empty()) return choicesFor(cpu, names);
  std::vector<std::string_view> elsewhere;
  for (const CpuRow& row : kCpus)
    if (row.arch != arch) elsewhere.push_back(row.name);
  const std::string_view found = closestName(cpu, elsewhere);
  const auto row = std::ranges::find_if(kCpus, [&](const CpuRow& r) { return r.arch != arch && r.name == found; });
  if (found.empty() || row == std::end(kCpus)) return all;
  return "did you mean '" + std::string(found) + "', for --triple " + std::string(tripleOf(row->arch)) + "? T" +
         all.substr(1);
}

}  // namespace

Result<CpuTarget> makeCpuTarget(std::string_view triple, std::string_view cpu) {
  const std::string host = hostTriple();
  if (triple.empty()) triple = host;
  SVOD_TRY(const Arch arch, archOfTriple(triple));
  if (cpu == "native") {
    SVOD_TRY(const Arch hostArch, archOfTriple(host));
    if (arch == hostArch) return readHost(triple, arch);
    return fail(Diag::Unsupported,
                "cpu 'native' is this machine (" + host + "), which '" + std::string(triple) + "' is not",
                "name the CPU: " + joined(cpuNames(arch), ", "));
  }
  if (cpu.empty()) return fromRow(baseline(arch), triple);
  if (const CpuRow* row = findCpu(arch, cpu)) return fromRow(*row, triple);
  return fail(Diag::Unsupported, "unknown " + std::string(toText(arch)) + " CPU '" + std::string(cpu) + "'",
              nearestCpus(arch, cpu));
}

std::string_view usualCpu(std::string_view triple) {
  const Result<Arch> arch = archOfTriple(triple.empty() ? hostTriple() : triple), host = archOfTriple(hostTriple());
  return arch && host && *arch != *host ? "" : "native";
}

std::string toText(const CpuTarget& cpu) {
  const auto line = [](std::string_view name, const std::string& value) {
    return std::string(name) + ": " + value + "\n";
  };
  return line("triple", cpu.triple) + line("cpu", cpu.name) + line("features", joined(cpu.features, " ")) +
         line("vectors", std::to_string(cpu.vectorRegisters) + " of " + std::to_string(cpu.vectorBytes) + " bytes") +
         line("fma", std::to_string(cpu.fmaPerCycle) + " per cycle, latency " + std::to_string(cpu.fmaLatency) +
                         (cpu.hasFma() ? "" : " (separate multiply and add)")) +
         line("issued", std::to_string(cpu.issued) + " instructions per cycle") +
         line("caches", "L1 " + sizeText(cpu.l1Bytes) + ", L2 " + sizeText(cpu.l2Bytes) + ", L3 " +
                            sizeText(cpu.l3Bytes) + ", lines of " + std::to_string(cpu.lineBytes) + " bytes") +
         line("cores", std::to_string(cpu.cores)) +
         line("clock", std::to_string(cpu.clockMHz) + " MHz, " + std::to_string(cpu.l3MBs) + " MB/s of L3 and " +
                           std::to_string(cpu.memoryMBs) + " of memory per core");
}

}  // namespace svod
