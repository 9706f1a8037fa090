// Where the bytes of a plan lie on a device of WebGPU: memories, each a buffer of it. Inputs, outputs and what the plan
// has on the host are memories as well, so every step of a run is work of the device.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "support/result.h"

namespace svod::web {

struct Memory {
  std::string name;               // a constant of the module: "ARENA"
  std::optional<uint64_t> bytes;  // none where a run decides
};
inline constexpr uint32_t kInputs = 0, kOutputs = 1;

/// A part of weights.bin that a memory holds.
struct WeightPart {
  uint32_t memory = 0;
  uint64_t begin = 0, end = 0;
};

/// An arena that is laid out for the sizes of every run: its buffers, by RunPlace::end.
struct RunArena {
  uint32_t memory = 0;
  uint64_t most = 0;  // bytes at the greatest sizes
  std::vector<const RunPlace*> buffers;
};

/// Where a buffer begins: an expression of JavaScript, empty for 0, and bytes behind it.
struct WebPlace {
  uint32_t memory = 0;
  std::string base;
  uint64_t offset = 0;
};

struct WebLayout {
  std::vector<Memory> memories;
  std::vector<WebPlace> buffers;  // by BufferId
  std::vector<RunArena> arenas;
  std::vector<WeightPart> weights;
  uint64_t weightBytes = 0;
};

/// `base` is over `inputs[i]`, `outputs[i]` and `arenas[a][unit]`.
WebLayout layoutOf(const Plan& plan);

/// "arenas[0][3] + 64"
std::string placeText(const WebPlace& location);

}  // namespace svod::web
