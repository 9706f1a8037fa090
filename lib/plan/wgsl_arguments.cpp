#include "plan/wgsl_arguments.h"

#include <algorithm>
#include <vector>

namespace svod {

namespace {

/// The functions of an argument that lies in a memory.
std::string functionsOf(size_t slot, WordUse use, uint32_t memory, bool isAtomic) {
  const std::string number = std::to_string(slot), word = "m" + std::to_string(memory) + "[i]";
  std::string text =
      "fn get" + number + "(i: u32) -> u32 { return " + (isAtomic ? "atomicLoad(&" + word + ")" : word) + "; }\n";
  if (use == WordUse::Reads) return text;
  if (use == WordUse::WritesParts)
    return text + "fn put" + number + "(i: u32, mask: u32, x: u32) { atomicAnd(&" + word + ", ~mask); atomicOr(&" +
           word + ", x); }\n";
  return text + "fn set" + number + "(i: u32, x: u32) { " +
         (isAtomic ? "atomicStore(&" + word + ", x);" : word + " = x;") + " }\n";
}

}  // namespace

WordUse wordUse(Mode mode, uint64_t elementBytes) {
  if (mode == Mode::Read) return WordUse::Reads;
  return elementBytes < 4 ? WordUse::WritesParts : WordUse::Writes;
}

std::string wordText(uint32_t word) { return "svod_words[" + std::to_string(word / 4) + "]." + "xyzw"[word % 4]; }

std::string wgslArguments(std::span<const WordUse> uses, size_t values, std::span<const uint32_t> memories) {
  const uint32_t count = memories.empty() ? 0 : *std::ranges::max_element(memories) + 1;
  std::vector<bool> isAtomic(count, false);
  for (size_t slot = 0; slot < uses.size(); slot++)
    if (uses[slot] == WordUse::WritesParts) isAtomic[memories[slot]] = true;
  std::string text = "@group(0) @binding(0) var<uniform> svod_words: array<vec4u, " +
                     std::to_string(launchWords(uses.size(), values) / 4) + ">;\n";
  for (uint32_t memory = 0; memory < count; memory++)
    text += "@group(0) @binding(" + std::to_string(memory + 1) + ") var<storage, read_write> m" +
            std::to_string(memory) + ": array<" + (isAtomic[memory] ? "atomic<u32>" : "u32") + ">;\n";
  for (size_t slot = 0; slot < uses.size(); slot++)
    text += functionsOf(slot, uses[slot], memories[slot], isAtomic[memories[slot]]);
  return text + std::string(kWgslKernel);
}

}  // namespace svod
