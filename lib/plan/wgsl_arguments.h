// How kernels in WGSL reach their arguments: what stands in front of the text of one. Targets write it with a memory of
// its own for each argument. Devices write it anew where arguments share memory, as WebGPU takes no two bindings of one
// place.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace svod {

/// What a kernel does with the words of 32 bits of an argument: it may write parts of them.
enum class WordUse : uint8_t { Reads, Writes, WritesParts };
WordUse wordUse(Mode mode, uint64_t elementBytes);

/// The words that a launch gives to a kernel: a zero, the workgroups along x and z, one that is unused; then for each
/// argument how many bytes of its memory lie in front of it; then the values, their lower halves first.
inline constexpr uint32_t kGroupsX = 1, kGroupsZ = 2;
constexpr uint32_t wordOfArgument(size_t slot) { return static_cast<uint32_t>(4 + slot); }
constexpr uint32_t wordOfValue(size_t arguments, size_t position) {
  return static_cast<uint32_t>(4 + arguments + 2 * position);
}
/// As many as four of them hold, rounded up.
constexpr uint32_t launchWords(size_t arguments, size_t values) { return (wordOfValue(arguments, values) + 3) / 4 * 4; }
/// "svod_words[1].y"
std::string wordText(uint32_t word);

/// Binding 0 is the words of the launch, binding 1 + m is memory m. Argument N is in memory `memories[N]`, and the text
/// reaches it by getN(word), setN(word, bits) and putN(word, mask, bits), which leaves the bits outside of the mask.
std::string wgslArguments(std::span<const WordUse> uses, size_t values, std::span<const uint32_t> memories);
/// Ends what is written anew: the text of the kernel is behind it.
inline constexpr std::string_view kWgslKernel = "// The kernel:\n";

/// More than so many workgroups along x are counted along z as well: the text knows (Grid attribute "folded").
inline constexpr int64_t kMostGroups = 65535;
inline constexpr std::string_view kFolded = "folded";

}  // namespace svod
