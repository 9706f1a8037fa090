// Register tiles, lanes, unrolling, tiles: loops in parts.
#include <algorithm>
#include <array>
#include <bit>

#include "opts/legality.h"
#include "opts/proposals.h"

namespace svod {

namespace {

constexpr int64_t kMostCopies = 64, kMostIterations = 32;  // of a loop that is written out whole
// Copies in registers: every count up to 16, which is where sizes of register tiles differ, then even ones.
constexpr auto kCopies = std::to_array<int64_t>({2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 28});
constexpr auto kSteps = std::to_array<int64_t>({2, 3, 4, 5, 6, 7, 8, 16});
constexpr auto kSums = std::to_array<int64_t>({2, 3, 4, 6, 8, 12, 16});
constexpr auto kTiles = std::to_array<int64_t>(
    {2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096});
constexpr auto kMultiples = std::to_array<int64_t>({2, 4, 8, 16, 32, 64});

std::vector<OptOp> alongEach(const KernelFacts& kernel, const LoopNames& names, OptKind kind,
                             std::span<const UOp> loops, const Amounts& amounts) {
  std::vector<OptOp> moves;
  for (UOp r : loops) addAmounts(moves, kind, refTo(kernel, names, r), r, amounts);
  return moves;
}

bool hasVectorBeside(const KernelFacts& kernel, UOp range) {
  return std::ranges::any_of(kernel.closersOf(range), [](UOp closer) {
    return std::ranges::any_of(closer.src().subspan(1), [](UOp r) { return axisType(r) == AxisType::Vector; });
  });
}

// Lanes of the narrowest elements that the kernel reads or writes.
int64_t mostLanes(const KernelFacts& kernel, const Caps& caps) {
  int64_t bytes = 8;
  for (const Access& a : kernel.accesses) bytes = std::min<int64_t>(bytes, byteSize(a.node.dtype()));
  return std::min<int64_t>(64, std::max<int64_t>(2, caps.vectorBytes / std::max<int64_t>(1, bytes)));
}

// Tiles of the usual sizes, of a few equal parts of the loop, and of as many iterations as share what a load reads.
std::vector<int64_t> tileSizes(const KernelFacts& kernel, UOp range) {
  constexpr int64_t kParts = 16, kFewParts = 4;
  constexpr int64_t kRows[] = {4, 6, 8, 12};  // of register tiles, which parts are to be filled with
  std::vector<int64_t> sizes(kTiles.begin(), kTiles.end());
  const int64_t extent = maxExtent(range);
  for (int64_t parts = 2; parts <= kParts; ++parts) {
    const int64_t part = (extent + parts - 1) / parts;
    sizes.push_back(part);
    for (int64_t rows : kRows)
      if (parts <= kFewParts) sizes.push_back((part + rows - 1) / rows * rows);
  }
  for (UOp n : kernel.nodes)
    if (n.op() == Op::Floordiv && n.src(0) == range && n.src(1).isConst()) sizes.push_back(n.src(1).constInt());
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  sizes.erase(sizes.begin(), std::ranges::lower_bound(sizes, 2));
  return sizes;
}

}  // namespace

std::vector<OptOp> proposeUpcast(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  const std::vector<UOp> loops =
      loopsIn(kernel, kOutput | kFill, {AxisType::Loop, AxisType::Thread, AxisType::Global, AxisType::Local});
  return alongEach(kernel, names, OptKind::Upcast, loops, {kCopies, kMostCopies});
}

std::vector<OptOp> proposeVector(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  const int64_t most = mostLanes(kernel, caps);
  for (UOp r : loopsIn(kernel, kAnyNest, {AxisType::Loop, AxisType::Thread, AxisType::Reduce})) {
    if (hasVectorBeside(kernel, r) || !mayFoldInAnyOrder(kernel, r, caps)) continue;
    const auto extent = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(maxExtent(r))));
    for (int64_t lanes = 2; lanes <= std::min(most, extent); lanes *= 2)
      moves.push_back({OptKind::Vector, AxisAmount{refTo(kernel, names, r), lanes}});
  }
  return moves;
}

std::vector<OptOp> proposeUnroll(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  const std::vector<UOp> loops = loopsIn(kernel, kReduce, {AxisType::Reduce, AxisType::Loop, AxisType::Group});
  return alongEach(kernel, names, OptKind::Unroll, loops, {kSteps, kMostIterations});
}

std::vector<OptOp> proposeAcc(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<UOp> loops = loopsIn(kernel, kReduce, {AxisType::Reduce, AxisType::Loop});
  std::erase_if(loops, [&](UOp r) { return !mayFoldInAnyOrder(kernel, r, caps); });
  return alongEach(kernel, names, OptKind::Acc, loops, {kSums, kMostIterations});
}

std::vector<OptOp> proposeTile(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  std::vector<OptOp> moves;
  for (UOp r : loopsIn(kernel, kAnyNest, {AxisType::Loop, AxisType::Thread, AxisType::Reduce}))
    addAmounts(moves, OptKind::Tile, refTo(kernel, names, r), r, {tileSizes(kernel, r)});
  return moves;
}

std::vector<OptOp> proposePadTo(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  std::vector<OptOp> moves;
  for (UOp r :
       loopsIn(kernel, kOutput | kReduce, {AxisType::Loop, AxisType::Reduce, AxisType::Global, AxisType::Local})) {
    const int64_t extent = constExtent(r).value_or(0);
    for (int64_t m : kMultiples)
      if (extent % m != 0 && extent > (extent + m - 1) / m * m / 4)
        moves.push_back({OptKind::PadTo, AxisAmount{refTo(kernel, names, r), m}});
  }
  return moves;
}

}  // namespace svod
