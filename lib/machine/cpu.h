// What a CPU can do, as data. Schedules, tilings and code generation read this record and know no machine by
// name.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace svod {

enum class Arch : uint8_t { X86_64, AArch64, Arm, RiscV64, Wasm32 };  // Arm is ARMv7-A
std::string_view toText(Arch arch);
/// In the order of the enumeration.
std::span<const Arch> architectures();
/// The usual triple of one: "aarch64-unknown-linux-gnu".
std::string_view tripleOf(Arch arch);

/// A CPU to compile for. Sizes are bytes; cache sizes are what one core sees (L3 is the shared total).
struct CpuTarget {
  std::string triple;  // "x86_64-unknown-linux-gnu"
  Arch arch = Arch::X86_64;
  std::string name;                   // the row of cpus.def
  std::vector<std::string> features;  // sorted; code may use these and nothing else beyond the architecture's baseline
  int vectorBytes = 16;
  int vectorRegisters = 16;
  int fmaPerCycle = 1;        // full-width instructions started per cycle
  int fmaLatency = 8;         // cycles until the result can be used
  int issued = 4;             // instructions started per cycle
  double gatheredLane = 0.6;  // cycles of one lane of a gather
  int64_t l1Bytes = 0, l2Bytes = 0, l3Bytes = 0;
  int64_t lineBytes = 64;
  int cores = 1;
  int clockMHz = 2000;   // while full vectors run; typical, like the rates below: predictions use them
  int l3MBs = 13600;     // MB per second between one core and L3
  int memoryMBs = 8000;  // and memory

  bool has(std::string_view feature) const;
  bool hasElf() const;            // objects are ELF files, and shared libraries are loaded
  bool has32BitPointers() const;  // addresses and fast integers
  bool hasFma() const;            // fused multiply-add instructions
  bool hasRounding() const;       // floor, ceil, trunc, round of floats as instructions
  bool hasScaleb() const;         // float times a power of two as one instruction
  bool hasMasks() const;          // registers for conditions of lanes
  int maskedBytes() const;  // elements of this size and more have masked vector accesses that cost little; 0: none
  /// Groups of four products of bytes are added to each i32 lane, without saturation, by few instructions: of an
  /// unsigned byte with a signed one, and of two bytes alike.
  bool hasMixedDots() const;
  bool hasLikeDots() const;
  bool hasBf16Dots() const;  // pairs of products of bf16 are added to each f32 lane by one instruction
  bool operator==(const CpuTarget&) const = default;
};

/// The triple this program runs on.
std::string hostTriple();

/// Names that `--cpu` accepts for `arch`, in table order, without "native".
std::vector<std::string_view> cpuNames(Arch arch);

/// The architecture of a triple. Errors: Unsupported, naming what is supported.
Result<Arch> archOfTriple(std::string_view triple);

/// The record of `cpu` for `triple`. An empty triple is the host's; cpu "native" reads this machine
/// (features, caches, cores) and needs a triple of its architecture; an empty cpu is the architecture's
/// baseline. Errors: Unsupported for an unknown triple or CPU.
Result<CpuTarget> makeCpuTarget(std::string_view triple, std::string_view cpu);

/// What an unnamed CPU for `triple` is: "native" for the architecture of this machine, and else nothing, the baseline.
std::string_view usualCpu(std::string_view triple);

/// Several lines of `name: value` for people.
std::string toText(const CpuTarget& cpu);

}  // namespace svod
