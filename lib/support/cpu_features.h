// Which instruction set extensions this machine has. Names are LLVM's; the table is cpu_features.def.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace svod {

/// Bits of XCR0, the registers that the system saves on a context switch: SSE and AVX, the three of AVX-512, and the
/// configuration and data of tiles.
enum class SavedState : uint64_t { None = 0, Avx = 0x06, Avx512 = 0xe6, Amx = 0x600e6 };

/// Extensions that both the CPU and the operating system support, in table order. Empty on an unknown
/// architecture.
std::vector<std::string_view> hostCpuFeatures();

/// The names in `needed` that `present`, by default this machine, lacks, or that the table does not know, in their
/// order.
std::vector<std::string> missingCpuFeatures(std::span<const std::string> needed,
                                            std::span<const std::string_view> present = hostCpuFeatures());

/// The feature that every instruction on tiles needs, and what a process asks Linux for their registers with:
/// arch_prctl(kRequestState, kTileState).
inline constexpr std::string_view kTileFeature = "amx-tile";
inline constexpr int kRequestState = 0x1023, kTileState = 18;

/// Whether one of these is of tiles, whose registers a process has to ask Linux for.
bool needTiles(std::span<const std::string> features);
/// Asks for them, for all threads of the process and those that it forks. False where the system refuses, as for
/// alternate stacks of signals that are too small for more registers.
bool requestTiles();

}  // namespace svod
