#include "cost/gpu_tiles.h"

#include <algorithm>
#include <cmath>

#include "ir/gpu_op.h"
#include "machine/occupancy.h"
#include "support/integers.h"

namespace svod {

namespace {

constexpr double kSharedBytesPerClock = 128;  // of a unit
constexpr double kStartCycles = 1500;  // until the first products of a workgroup, and from its last ones to the end
constexpr double kMasked = 3;          // times the cycles where the last step of k has terms that do not exist
constexpr double kBeside = 0.1;        // of what is not the slowest, that shows nevertheless
constexpr double kMeet = 30;           // of a step in which threads wait for copies and meet
constexpr double kLoop = 4;            // instructions of a step beside products and loads
constexpr int kWarpsToHide = 8;        // of a unit, that hide the latency of each other
constexpr int kProductsToHide = 32;    // of tensor cores, that do not wait for each other, of all warps of a unit
constexpr int kCores = 4;              // of a unit, each for warps of its own

double ratio(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

int registersOf(const GpuProduct& product, const GpuTile& tile) {
  const int64_t sums = tile.m * tile.n / tile.threads(product);
  return static_cast<int>(std::min<int64_t>(255, sums + (product.core ? 64 : 48)));
}

GpuNeeds needsOf(const GpuProduct& p, const GpuTile& t) { return {registersOf(p, t), t.sharedBytes(p), t.threads(p)}; }

/// Cycles in which a unit can do one step of k of one workgroup.
double stepCycles(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  const double products = static_cast<double>(t.m * t.n * t.k),
               filled = static_cast<double>((t.m + t.n) * t.k * p.bytes);
  // Single lanes issue a load for four elements of their rows or columns, and count, beside the products.
  const double own = ratio(t.m, t.rows) * ratio(t.n, t.columns),
               others = (ratio(t.m, t.rows) + ratio(t.n, t.columns)) / 4 + kLoop;
  const double idle = std::max(1.0, ratio(kCores, t.rows * t.columns));
  const double multiplying =
      p.core ? products / std::max(gpu.coreLanes, gpu.lanes) * idle : products / gpu.lanes * (1 + others / own);
  // Every warp reads its rows and its columns; lanes of one row share what they read of it.
  const double read = p.core
                          ? static_cast<double>(t.k * p.bytes * (t.m * t.columns + t.n * t.rows))
                          : static_cast<double>(t.k * p.bytes) * (ratio(t.m * t.columns, 8) + ratio(t.n * t.rows, 2));
  const double shared = (read + filled) / kSharedBytesPerClock;
  const double l2PerClock = static_cast<double>(gpu.l2MBs) / gpu.clockMHz / gpu.units;
  const double l2 = filled / l2PerClock, most = std::max({multiplying, shared, l2});
  return most + kBeside * (multiplying + shared + l2 - most) + kMeet;
}

bool hasCopies(const GpuTarget& gpu) { return hasGpuOp("cp_async16", gpu.family, gpu.generation); }

bool fits(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  const int64_t sums = t.m * t.n / t.threads(p);
  return t.threads(p) <= gpu.maxThreads && t.sharedBytes(p) <= gpu.sharedBytes && sums >= 4 && sums <= 64 &&
         occupancyOf(gpu, needsOf(p, t)).groups > 0;
}

/// One stage more than three where as many workgroups fit: then the stage of a step is cheap to count.
GpuTile inPowersOfTwo(const GpuProduct& p, GpuTile t, const GpuTarget& gpu) {
  GpuTile more = t;
  more.stages = 4;
  const bool isFree = t.stages == 3 && fits(p, more, gpu) &&
                      occupancyOf(gpu, needsOf(p, more)).groups == occupancyOf(gpu, needsOf(p, t)).groups;
  return isFree ? more : t;
}

}  // namespace

double cyclesOf(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  const int64_t blocks = p.batch * ceilDiv(p.m, t.m) * ceilDiv(p.n, t.n);
  const int64_t groups = std::max<int64_t>(1, occupancyOf(gpu, needsOf(p, t)).groups);
  const int64_t wave = gpu.units * groups, full = blocks / wave, last = ceilDiv(blocks - full * wave, gpu.units);
  // What is only padding counts for nothing.
  const auto tilesOfCore = [](int64_t tile, int64_t all, int side) { return ceilDiv(std::min(tile, all), side); };
  const int64_t independent =
      p.core ? tilesOfCore(t.m, p.m, p.core->m) * tilesOfCore(t.n, p.n, p.core->n) : ceilDiv(t.threads(p), 32);
  const double wanted = p.core ? kProductsToHide : kWarpsToHide;
  const auto hidden = [&](int64_t resident) {
    return std::max(1.0, std::sqrt(wanted / static_cast<double>(std::max<int64_t>(1, resident * independent))));
  };
  const double masked = p.core && p.k % t.k != 0 ? kMasked : 1;
  const double block = static_cast<double>(ceilDiv(p.k, t.k)) * stepCycles(p, t, gpu) * masked;
  return static_cast<double>(full) * (static_cast<double>(groups) * block * hidden(groups) + kStartCycles) +
         (last > 0 ? static_cast<double>(last) * block * hidden(last) + kStartCycles : 0);
}

std::vector<GpuTile> tilesFor(const GpuProduct& p, const GpuTarget& gpu) {
  struct Priced {
    GpuTile tile;
    double cycles;
  };
  std::vector<Priced> found;
  const auto add = [&](const GpuTile& tile) {
    if (fits(p, tile, gpu)) found.push_back({tile, cyclesOf(p, tile, gpu)});
  };
  const bool rings = hasCopies(gpu);
  for (int64_t m : {16, 32, 64, 128, 256})
    for (int64_t n : {8, 16, 32, 64, 128, 256})
      for (int64_t k : {8, 16, 32, 64})
        for (int rows : {1, 2, 4, 8, 16})
          for (int columns : {1, 2, 4, 8, 16}) {
            if (p.core) {
              const bool isWhole = m % (p.core->m * rows) == 0 && n % (p.core->n * columns) == 0 && k % p.core->k == 0;
              const bool isWide = m / rows <= 64 && n / columns <= 64 && rows * columns <= 8 && k * p.bytes <= 128;
              if (isWhole && isWide) add({m, n, k, rows, columns, rings ? 3 : 1});
            } else if (rows * columns >= 32 && rows <= columns && m % rows == 0 && n % (4 * columns) == 0 &&
                       m / rows <= 8 && k <= 16) {
              add({m, n, k, rows, columns, 1});
              if (rings) add({m, n, k, rows, columns, 2});
            }
          }
  std::ranges::stable_sort(found, {}, &Priced::cycles);
  std::vector<GpuTile> tiles;
  for (const Priced& each : found) tiles.push_back(inPowersOfTwo(p, each.tile, gpu));
  return tiles;
}

}  // namespace svod
