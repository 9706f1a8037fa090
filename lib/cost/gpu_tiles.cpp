#include "cost/gpu_tiles.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "cost/parameters.h"
#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "ir/warpgroup_operand.h"
#include "machine/occupancy.h"
#include "support/integers.h"

namespace svod {

namespace {

using namespace parameters;

bool isOfWarpgroup(const GpuProduct& p) { return p.core && p.core->isOfWarpgroup(); }
double ratio(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

bool hasCopies(const GpuTarget& gpu) { return hasGpuOp("cp_async16", gpu.family, gpu.generation); }

/// Of one thread.
int64_t sumsOf(const GpuProduct& p, const GpuTile& t) { return t.m * t.n * t.slices / t.threads(p); }

int registersOf(const GpuProduct& product, const GpuTile& tile) {
  const int64_t sums = sumsOf(product, tile);  // beside which factors of some terms wait
  return static_cast<int>(std::min<int64_t>(255, sums + 64));
}

/// Multiply-adds per clock that tensor cores do for one workgroup. A warpgroup keeps those of all its warps busy.
double coresPerClock(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  if (isOfWarpgroup(p)) return gpu.warpgroupLanes * kGpuWarpgroupShare;
  return std::max(gpu.coreLanes, gpu.lanes) / std::max(1.0, ratio(kGpuCores, t.parts()));
}

GpuNeeds needsOf(const GpuProduct& p, const GpuTile& t) { return {registersOf(p, t), t.sharedBytes(p), t.threads(p)}; }

/// Instructions that multiply, of one warp in one step.
double productsOf(const GpuProduct& p, const GpuTile& t) {
  return ratio(t.m, t.rows * p.core->m) * ratio(t.n, t.columns * p.core->n) * ratio(t.k, t.slices * p.core->k);
}
double warpsPerCore(const GpuProduct& p, const GpuTile& t) {
  return std::max(1.0, ratio(t.threads(p), kWarpLanes * kGpuCores));
}

/// Cycles in which each slice writes its sums and reads those of all.
double addingCycles(const GpuTile& t) {
  const int64_t moved = t.slices > 1 ? t.m * t.n * t.slices * (1 + t.slices) * 4 : 0;
  return static_cast<double>(moved) / kGpuSharedBytesPerClock;
}

/// Cycles in which a unit can do one step of k of one workgroup.
double stepCycles(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  const double products = static_cast<double>(t.m * t.n * t.k),
               filled = static_cast<double>((std::min(t.m, p.m) + std::min(t.n, p.n)) * t.k * p.bytes);
  // Single lanes issue a load for four elements of their rows or columns, and count, beside the products.
  const double own = ratio(t.m, t.rows) * ratio(t.n, t.columns),
               others = (ratio(t.m, t.rows) + ratio(t.n, t.columns)) / 4 + kGpuLoop;
  const double multiplying = !p.core ? products / gpu.lanes * (1 + others / own) : products / coresPerClock(p, t, gpu);
  // Every warp reads its rows and its columns; lanes of one row share what they read of it.
  const double read = p.core
                          ? static_cast<double>(t.k * p.bytes * (t.m * t.columns + t.n * t.rows))
                          : static_cast<double>(t.k * p.bytes) * (ratio(t.m * t.columns, 8) + ratio(t.n * t.rows, 2));
  const double shared = (read + filled) / kGpuSharedBytesPerClock;
  const double l2PerClock = static_cast<double>(gpu.l2MBs) / gpu.clockMHz / gpu.units;
  const double issued = p.core ? (kGpuStep + kGpuPerProduct * productsOf(p, t)) * warpsPerCore(p, t) : 0;
  const double l2 = filled / l2PerClock, most = std::max({multiplying, shared, l2, issued});
  // Warpgroups only wait. Warps load factors behind each meeting, and meet twice where there is no ring.
  if (isOfWarpgroup(p)) return most + kGpuMeet;
  const double meeting = p.core && hasCopies(gpu) ? kGpuMeetOfWarps : kGpuMeet;
  return most + kGpuBeside * (multiplying + shared + l2 + issued - most) + meeting * (t.stages > 1 ? 1 : 2);
}

/// Cycles in which a unit moves the results of tensor cores of one workgroup to memory, by the lines that each access
/// of a warp touches and by what goes through memory of the workgroup. Lanes hold two neighbours of each of 8 rows; of
/// words in sectors that are half full they exchange every other one, and then write to 4 rows.
double resultCycles(const GpuProduct& p, const GpuTile& t) {
  if (!p.core) return 0;
  constexpr int64_t kLine = 128, kSector = 32, kRows = 8;
  const int64_t bytes = t.m * t.n * p.resultBytes, pair = 2 * p.resultBytes * kWarpLanes;
  const bool isExchanged = pair / kRows < kSector;
  const double pairs = ratio(bytes, pair), lines = isExchanged ? kRows / 2.0 : kRows;
  if (!t.isStashed) return pairs * (lines + (isExchanged ? 0.5 : 0));
  // Wider pairs of neighbouring rows meet in banks.
  const double written = ratio(bytes, kLine) * (isExchanged ? 1 : 2), read = ratio(bytes, kLine);
  return written + read + ratio(bytes, std::min(kLine, t.n * p.resultBytes)) + kGpuMeet;
}

bool fits(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  const int64_t sums = sumsOf(p, t);
  if (!p.core && sums * t.k * t.stages > kGpuMostWritten)
    return false;  // what a loop that turns a ring has written out
  return t.threads(p) <= gpu.maxThreads && t.sharedBytes(p) <= gpu.sharedBytes && sums >= 4 &&
         sums <= (p.core && !isOfWarpgroup(p) ? kGpuMostSums : 2 * kGpuMostSums) &&
         occupancyOf(gpu, needsOf(p, t)).groups > 0;
}

int64_t groupsOf(const GpuProduct& p, const GpuTile& t) { return p.batch * ceilDiv(p.m, t.m) * ceilDiv(p.n, t.n); }

/// Workgroups of the product that share a unit, at most.
int64_t residentOf(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  return std::min<int64_t>(occupancyOf(gpu, needsOf(p, t)).groups, ceilDiv(groupsOf(p, t), gpu.units));
}

/// As many stages more as leave as many workgroups to a unit: copies are further ahead.
GpuTile withFreeStages(const GpuProduct& p, GpuTile t, const GpuTarget& gpu) {
  GpuTile more = t;
  for (const int64_t stages : {kMostStages, int64_t{6}, int64_t{4}}) {
    more.stages = static_cast<int>(stages);
    const bool isMore = t.stages > 1 && more.stages > t.stages;
    if (isMore && fits(p, more, gpu) && residentOf(p, more, gpu) == residentOf(p, t, gpu)) return more;
  }
  return t;
}

/// With every number of rows and columns of threads or warps.
std::vector<GpuTile> allTiles() {
  std::vector<GpuTile> all;
  for (int64_t m : {16, 32, 64, 128, 256})
    for (int64_t n : {8, 16, 32, 64, 128, 256})
      for (int64_t k : {8, 16, 32, 64, 128, 256})
        for (int rows : {1, 2, 4, 8, 16})
          for (int columns : {1, 2, 4, 8, 16}) all.push_back({m, n, k, rows, columns, 1});
  return all;
}

/// Slices are for warps that have all the sums they can: with fewer they load more for a product. Of few rows there are
/// no more.
std::vector<GpuTile> tilesOfWarps(const GpuProduct& p, const GpuTarget& gpu) {
  std::vector<GpuTile> tiles;
  for (GpuTile t : allTiles()) {
    const bool isWhole = t.m % (p.core->m * t.rows) == 0 && t.n % (p.core->n * t.columns) == 0 && t.k % p.core->k == 0;
    const bool isWide = t.m / t.rows <= 64 && t.n / t.columns <= 64 && t.parts() <= kGpuMostWarps &&
                        t.k * p.bytes <= (p.m > p.core->m || !hasCopies(gpu) ? 1 : kGpuLongRows) * kOperandRow;
    t.stages = hasCopies(gpu) ? 3 : 1;
    if (!isWhole || !isWide) continue;
    tiles.push_back(t);
    for (t.slices = 2; t.slices <= 4; t.slices *= 2)
      if ((sumsOf(p, t) == kGpuMostSums || p.m <= p.core->m) && t.parts() <= kGpuMostWarps &&
          t.k % (t.slices * p.core->k) == 0)
        tiles.push_back(t);
  }
  return tiles;
}

/// One product of each of up to two warpgroups, with rows of 128 bytes.
std::vector<GpuTile> tilesOfWarpgroups(const GpuProduct& p, const GpuTarget& gpu) {
  const int64_t k = kOperandRow / p.bytes;
  std::vector<GpuTile> tiles;
  if (p.core->n < kGpuGroupColumns || gpu.warpgroupLanes == 0) return tiles;
  for (const auto& [rows, columns] : {std::pair(1, 1), std::pair(2, 1), std::pair(1, 2)})
    tiles.push_back({int64_t{rows} * p.core->m, int64_t{columns} * p.core->n, k, rows, columns, 3});
  return tiles;
}

std::vector<GpuTile> tilesOfLanes(const GpuTarget& gpu) {
  std::vector<GpuTile> tiles;
  for (const GpuTile& t : allTiles()) {
    const bool isWhole = t.m % t.rows == 0 && t.n % (4 * t.columns) == 0;
    if (!isWhole || t.rows * t.columns < 32 || t.rows > t.columns || t.m / t.rows > 8 || t.n / t.columns > 16 ||
        t.k > 16)
      continue;
    for (int stages : {1, 3})
      if (stages == 1 || hasCopies(gpu)) tiles.push_back({t.m, t.n, t.k, t.rows, t.columns, stages});
  }
  return tiles;
}

}  // namespace

double cyclesOf(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  const int64_t blocks = groupsOf(p, t);
  const int64_t groups = std::max<int64_t>(1, occupancyOf(gpu, needsOf(p, t)).groups);
  const int64_t wave = gpu.units * groups, full = blocks / wave, last = ceilDiv(blocks - full * wave, gpu.units);
  // What is only padding counts for nothing.
  const auto tilesOfCore = [](int64_t tile, int64_t all, int side) { return ceilDiv(std::min(tile, all), side); };
  // A warpgroup's is as many as those that warps have, of 16 x 8.
  const int rows = p.core ? std::min(p.core->m, 16) : 1, columns = p.core ? std::min(p.core->n, 8) : 1;
  const int64_t independent = p.core ? t.slices * tilesOfCore(t.m, p.m, rows) * tilesOfCore(t.n, p.n, columns)
                                     : ceilDiv(t.threads(p), kWarpLanes);
  const double wanted = p.core ? kGpuProductsToHide : kGpuWarpsToHide;
  const auto hidden = [&](int64_t resident) {
    return std::max(1.0, std::sqrt(wanted / static_cast<double>(std::max<int64_t>(1, resident * independent))));
  };
  const double step = stepCycles(p, t, gpu), around = addingCycles(t) + resultCycles(p, t);
  // Copies of a step are under way while others of the ring are used.
  const auto block = [&](int64_t resident) {
    const double all = static_cast<double>(resident);
    const double waiting = t.stages > 1 ? kGpuCopyCycles / (t.stages - 1) : 0;
    return static_cast<double>(ceilDiv(p.k, t.k)) * std::max(all * step * hidden(resident), waiting) + all * around +
           kGpuStartCycles;
  };
  return static_cast<double>(full) * block(groups) + (last > 0 ? block(last) : 0);
}

std::vector<GpuTile> tilesFor(const GpuProduct& p, const GpuTarget& gpu) {
  struct Priced {
    GpuTile tile;
    double cycles;
  };
  std::vector<Priced> found;
  const std::vector<GpuTile> all = !p.core            ? tilesOfLanes(gpu)
                                   : isOfWarpgroup(p) ? tilesOfWarpgroups(p, gpu)
                                                      : tilesOfWarps(p, gpu);
  for (GpuTile each : all) {
    std::optional<Priced> best;  // of results that go out directly, and of stashed ones
    for (const bool isStashed : {false, true}) {
      each.isStashed = isStashed;
      if ((isStashed && !(p.core && p.stashes)) || !fits(p, each, gpu)) continue;
      const GpuTile tile = withFreeStages(p, each, gpu);
      if (const double cycles = cyclesOf(p, tile, gpu); !best || cycles < best->cycles) best = {tile, cycles};
    }
    if (best) found.push_back(*best);
  }
  std::ranges::stable_sort(found, {}, &Priced::cycles);
  std::vector<GpuTile> tiles;
  for (const Priced& each : found) tiles.push_back(each.tile);
  return tiles;
}

}  // namespace svod
