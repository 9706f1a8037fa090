// CPU records: the table is well formed, names resolve, the host describes itself.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "machine/cpu.h"
#include "machine/host.h"
#include "support/cpu_features.h"

using namespace svod;

namespace {
constexpr std::string_view kX86 = "x86_64-unknown-linux-gnu", kArm = "aarch64-unknown-linux-gnu";
}  // namespace

TEST_CASE("every CPU row is a consistent record") {
  for (const Arch arch : architectures()) {
    const std::string_view triple = tripleOf(arch);
    CHECK(archOfTriple(triple).value() == arch);
    CHECK(triple.starts_with(toText(arch)));
    CHECK_FALSE(cpuNames(arch).empty());
    std::set<std::string_view> seen;
    for (const std::string_view name : cpuNames(arch)) {
      INFO(name);
      CHECK(seen.insert(name).second);
      const CpuTarget cpu = makeCpuTarget(triple, name).value();
      CHECK(cpu.name == name);
      CHECK(cpu.triple == triple);
      const bool hasVectors =
          arch == Arch::X86_64 || arch == Arch::AArch64 || cpu.has("neon") || cpu.has("v") || cpu.has("simd128");
      CHECK((cpu.vectorBytes == 16 || cpu.vectorBytes == 32 || cpu.vectorBytes == 64 || !hasVectors));
      CHECK((cpu.vectorBytes == 8) == !hasVectors);  // pairs of floats in two registers
      CHECK((cpu.vectorBytes == 64) == cpu.has("avx512f"));
      if (cpu.arch == Arch::X86_64) CHECK((cpu.vectorBytes >= 32) == cpu.has("avx2"));
      CHECK(cpu.vectorRegisters == (cpu.arch == Arch::AArch64 || cpu.vectorBytes == 64 || cpu.has("v") ? 32 : 16));
      CHECK(std::is_sorted(cpu.features.begin(), cpu.features.end()));
      CHECK(std::adjacent_find(cpu.features.begin(), cpu.features.end()) == cpu.features.end());
      CHECK(cpu.l1Bytes < cpu.l2Bytes);
      CHECK(cpu.fmaPerCycle * cpu.fmaLatency < cpu.vectorRegisters);  // enough accumulators to hide the latency
    }
  }
}

TEST_CASE("a processor without a name is this machine, or the least of another architecture") {
  for (const Arch arch : architectures()) {
    const std::string_view triple = tripleOf(arch);
    const bool isOwn = archOfTriple(hostTriple()).value() == arch;
    CHECK(usualCpu(triple) == (isOwn ? "native" : ""));
    if (!isOwn) CHECK(makeCpuTarget(triple, usualCpu(triple)).value().name == cpuNames(arch).front());
  }
  CHECK(usualCpu("") == "native");
}

TEST_CASE("a row has the features of the rows it builds on") {
  const CpuTarget cpu = makeCpuTarget(kX86, "icelake-server").value();
  for (const char* name : {"sse4.1", "avx2", "fma", "avx512vnni", "avx512vbmi2"}) CHECK(cpu.has(name));
  CHECK_FALSE(cpu.has("avx512fp16"));
  CHECK(cpu.hasFma());
  CHECK(cpu.hasMasks());
  CHECK(cpu.maskedBytes() == 1);
  const CpuTarget narrow = makeCpuTarget(kX86, "haswell").value();
  CHECK_FALSE(narrow.hasMasks());
  CHECK(narrow.maskedBytes() == 4);
  CHECK(makeCpuTarget(kX86, "x86-64-v2").value().maskedBytes() == 0);
}

TEST_CASE("which processors have dot products") {
  const auto cpu = [](std::string_view triple, const char* name) { return makeCpuTarget(triple, name).value(); };
  for (const char* name : {"sapphirerapids", "znver4", "znver5"}) CHECK(cpu(kX86, name).hasBf16Dots());
  for (const char* name : {"x86-64", "icelake-server", "alderlake"}) CHECK_FALSE(cpu(kX86, name).hasBf16Dots());
  for (const char* name : {"neoverse-v1", "neoverse-n2"}) CHECK(cpu(kArm, name).hasBf16Dots());
  for (const char* name : {"generic", "neoverse-n1"}) CHECK_FALSE(cpu(kArm, name).hasBf16Dots());
}

TEST_CASE("the baseline lacks what needs an extension") {
  const CpuTarget cpu = makeCpuTarget(kX86, "").value();
  CHECK(cpu.name == "x86-64");
  CHECK(cpu.features.empty());
  CHECK_FALSE(cpu.hasFma());
  CHECK_FALSE(cpu.hasRounding());
  CHECK(makeCpuTarget(kArm, "").value().hasFma());
}

TEST_CASE("native is this machine") {
  const CpuTarget cpu = makeCpuTarget("", "native").value();
  CHECK(missingCpuFeatures(cpu.features).empty());
  CHECK(cpu.features.size() == hostCpuFeatures().size());
  CHECK(cpu.cores == hostCores());
  CHECK(hostProcessors() >= hostCores());
  const HostCaches caches = hostCaches();
  if (caches.l2 > 0) CHECK(cpu.l2Bytes == caches.l2);
  if (caches.l3 > 0) {
    CHECK(cpu.l3Bytes <= caches.l3);
    CHECK(cpu.l3Bytes <= cpu.cores * (int64_t{8} << 20));  // not that of a processor whose other cores are not here
  }
  // The row chosen never promises more than the machine has.
  CHECK(missingCpuFeatures(makeCpuTarget("", cpu.name).value().features).empty());
}

TEST_CASE("architectures have several names") {
  CHECK(archOfTriple("amd64-pc-linux-gnu").value() == Arch::X86_64);
  CHECK(archOfTriple("arm64-unknown-linux-musl").value() == Arch::AArch64);
  CHECK(archOfTriple("armv7l-unknown-linux-gnueabihf").value() == Arch::Arm);
  CHECK(archOfTriple("wasm32-wasi").value() == Arch::Wasm32);
}

TEST_CASE("which processors have what code generation asks for") {
  const auto cpu = [](Arch arch, const char* name) { return makeCpuTarget(tripleOf(arch), name).value(); };
  CHECK(cpu(Arch::Arm, "cortex-a7").hasFma());
  CHECK_FALSE(cpu(Arch::Arm, "cortex-a9").hasFma());
  CHECK_FALSE(cpu(Arch::Arm, "cortex-a7").hasRounding());
  CHECK(cpu(Arch::RiscV64, "rv64gc").hasFma());
  CHECK_FALSE(cpu(Arch::Wasm32, "simd128").hasFma());
  CHECK(cpu(Arch::Wasm32, "generic").hasRounding());
  for (const Arch arch : architectures()) {
    CHECK(cpu(arch, "").has32BitPointers() == (arch == Arch::Arm || arch == Arch::Wasm32));
    CHECK(cpu(arch, "").hasElf() == (arch != Arch::Wasm32));
    if (arch > Arch::AArch64) CHECK_FALSE(cpu(arch, "").hasLikeDots());
  }
}

TEST_CASE("missing features are named") {
  const std::vector<std::string> needed = {"warp-drive"};
  CHECK(missingCpuFeatures(needed) == needed);
}

TEST_CASE("unknown triples and CPUs are errors that list what is known") {
  for (const char* other :
       {"pdp11-dec-ultrix", "thumbv7em-none-eabihf", "riscv64-unknown-none-elf", "riscv32-unknown-linux-gnu"}) {
    const auto triple = makeCpuTarget(other, "");
    REQUIRE_FALSE(triple.has_value());
    CHECK(triple.error()->diag == Diag::Unsupported);
    for (const Arch arch : architectures()) CHECK(triple.error()->help.find(tripleOf(arch)) != std::string::npos);
  }
  const auto cpu = makeCpuTarget(kX86, "neoverse-n1");
  REQUIRE_FALSE(cpu.has_value());
  CHECK(cpu.error()->help.find("haswell") != std::string::npos);
  const auto helpFor = [](std::string_view name) { return makeCpuTarget(kX86, name).error()->help; };
  CHECK(helpFor("zen4").find("use 'znver4' for it") == 0);
  CHECK(helpFor("skylak").find("did you mean 'skylake'?") == 0);
  CHECK(helpFor("cortexa72").find("did you mean 'cortex-a72', for --triple aarch64-unknown-linux-gnu?") == 0);
  const std::string_view foreign = hostTriple() == kX86 ? kArm : kX86;
  CHECK_FALSE(makeCpuTarget(foreign, "native").has_value());
}

TEST_CASE("a record prints") {
  const std::string text = toText(makeCpuTarget(kX86, "skylake-avx512").value());
  CHECK(text.find("cpu: skylake-avx512\n") != std::string::npos);
  CHECK(text.find("vectors: 32 of 64 bytes\n") != std::string::npos);
  CHECK(text.find("L2 1 MiB") != std::string::npos);
}
