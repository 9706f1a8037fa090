// Tensor cores as data (tensor_cores.def): what one product does, and which element of a matrix each lane holds.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "support/gpu_family.h"

namespace svod {

/// A bit of a coordinate in the tile that one instruction works on: of the row m, the column n or the term k.
struct TileBit {
  char dim = ' ';
  uint8_t bit = 0;
  bool operator==(const TileBit&) const = default;
};

/// Where the elements of one matrix are: bit i of lane + threads * element is bits[i].
struct Fragment {
  uint8_t laneBits = 0, elementBits = 0;
  std::array<TileBit, 14> bits{};
  constexpr int threads() const { return 1 << laneBits; }
  constexpr int elements() const { return 1 << elementBits; }  // that one lane holds
  constexpr int count() const { return laneBits + elementBits; }
};

struct TensorCore {
  std::string_view name;
  GpuFamily family;
  int since;      // first generation of the family that has it
  DType in, out;  // of A and B, and of C
  int m, n, k;
  bool dropsDigits;  // factors are rounded to fewer digits than `in` has
  Fragment a, b, c;  // of A and B without bits where they lie in memory
  constexpr int threads() const { return c.threads(); }
  /// Whether a warpgroup multiplies what lies in the memory of its workgroup.
  constexpr bool isOfWarpgroup() const { return a.count() == 0; }
};

std::span<const TensorCore> allTensorCores();
/// Those of one generation of a family, in table order; of warpgroups only where code is made for that generation
/// alone.
std::vector<const TensorCore*> tensorCoresOf(GpuFamily family, int generation, bool hasWarpgroups = false);
/// Null for an unknown name.
const TensorCore* findTensorCore(std::string_view name);

struct TilePlace {
  int m = 0, n = 0, k = 0;
};
TilePlace placeOf(const Fragment& fragment, int lane, int element);

/// Bits of a lane's (or an element's) number that lie side by side, and so do the bits of one coordinate that they are.
struct FragmentRun {
  bool ofLane;
  uint8_t first, count;  // of the number
  TileBit to;            // what bit `first` is
  constexpr int extent() const { return 1 << count; }
};
/// All bits of a fragment as the fewest runs: those of the lane, then those of the element, low bits first.
std::vector<FragmentRun> runsOf(const Fragment& fragment);

}  // namespace svod
