#include "ir/tensor_core.h"

#include <algorithm>
#include <bit>

namespace svod {

namespace {

consteval Fragment fragment(std::string_view text) {
  Fragment f;
  bool ofElement = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '|') ofElement = true;
    if (text[i] != 'm' && text[i] != 'n' && text[i] != 'k') continue;
    f.bits.at(static_cast<size_t>(f.count())) = {text[i], static_cast<uint8_t>(text.at(i + 1) - '0')};
    ofElement ? ++f.elementBits : ++f.laneBits;
  }
  return f;
}

constexpr TensorCore kCores[] = {
#define CORE(name, family, since, in, out, m, n, k, drops, a, b, c) \
  {name, GpuFamily::family, since, DType::in, DType::out, m, n, k, drops, fragment(a), fragment(b), fragment(c)},
#define GROUP_CORE(name, generation, in, out, m, n, k, c) \
  {name, GpuFamily::Cuda, generation, DType::in, DType::out, m, n, k, false, {}, {}, fragment(c)},
#include "ir/tensor_cores.def"
#undef GROUP_CORE
#undef CORE
};

// Each bit of the two coordinates is one bit of the lane's or the element's number: a warp holds each element once.
constexpr bool isBijection(const Fragment& f, char rowDim, int rows, char columnDim, int columns) {
  uint32_t seen[2] = {};
  for (int i = 0; i < f.count(); ++i) {
    const TileBit to = f.bits[static_cast<size_t>(i)];
    if (to.dim != rowDim && to.dim != columnDim) return false;
    uint32_t& bits = seen[to.dim == columnDim];
    if (bits & (1u << to.bit)) return false;
    bits |= 1u << to.bit;
  }
  return static_cast<int>(seen[0]) == rows - 1 && static_cast<int>(seen[1]) == columns - 1;
}

constexpr bool isConsistent(const TensorCore& core) {
  for (int extent : {core.m, core.n, core.k})
    if (!std::has_single_bit(static_cast<unsigned>(extent))) return false;
  if (!isBijection(core.c, 'm', core.m, 'n', core.n)) return false;
  if (core.isOfWarpgroup()) return core.b.count() == 0;
  return isBijection(core.a, 'm', core.m, 'k', core.k) && isBijection(core.b, 'k', core.k, 'n', core.n) &&
         core.a.threads() == core.threads() && core.b.threads() == core.threads();
}
static_assert(std::ranges::all_of(kCores, isConsistent));

}  // namespace

std::span<const TensorCore> allTensorCores() { return kCores; }

std::vector<const TensorCore*> tensorCoresOf(GpuFamily family, int generation, bool hasWarpgroups) {
  std::vector<const TensorCore*> cores;
  for (const TensorCore& core : kCores) {
    const bool isThere = core.isOfWarpgroup() ? hasWarpgroups && core.since == generation : core.since <= generation;
    if (core.family == family && isThere) cores.push_back(&core);
  }
  return cores;
}

const TensorCore* findTensorCore(std::string_view name) {
  auto row = std::ranges::find(kCores, name, &TensorCore::name);
  return row == std::end(kCores) ? nullptr : row;
}

TilePlace placeOf(const Fragment& f, int lane, int element) {
  TilePlace place;
  const int position = lane + f.threads() * element;
  for (int i = 0; i < f.count(); ++i) {
    const TileBit to = f.bits[static_cast<size_t>(i)];
    int& coordinate = to.dim == 'm' ? place.m : to.dim == 'n' ? place.n : place.k;
    coordinate |= (position >> i & 1) << to.bit;
  }
  return place;
}

std::vector<FragmentRun> runsOf(const Fragment& f) {
  std::vector<FragmentRun> runs;
  for (int i = 0; i < f.count(); ++i) {
    const TileBit to = f.bits[static_cast<size_t>(i)];
    const bool ofLane = i < f.laneBits;
    if (!runs.empty()) {
      FragmentRun& last = runs.back();
      if (last.ofLane == ofLane && last.to.dim == to.dim && last.to.bit + last.count == to.bit) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({ofLane, static_cast<uint8_t>(ofLane ? i : i - f.laneBits), 1, to});
  }
  return runs;
}

}  // namespace svod
