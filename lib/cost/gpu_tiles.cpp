#include "cost/gpu_tiles.h"

#include <algorithm>
#include <cmath>

#include "cost/parameters.h"
#include "ir/gpu_op.h"
#include "machine/occupancy.h"
#include "support/integers.h"

namespace svod {

namespace {

using namespace parameters;

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
               others = (ratio(t.m, t.rows) + ratio(t.n, t.columns)) / 4 + kGpuLoop;
  const double idle = std::max(1.0, ratio(kGpuCores, t.rows * t.columns));
  const double multiplying =
      p.core ? products / std::max(gpu.coreLanes, gpu.lanes) * idle : products / gpu.lanes * (1 + others / own);
  // Every warp reads its rows and its columns; lanes of one row share what they read of it.
  const double read = p.core
                          ? static_cast<double>(t.k * p.bytes * (t.m * t.columns + t.n * t.rows))
                          : static_cast<double>(t.k * p.bytes) * (ratio(t.m * t.columns, 8) + ratio(t.n * t.rows, 2));
  const double shared = (read + filled) / kGpuSharedBytesPerClock;
  const double l2PerClock = static_cast<double>(gpu.l2MBs) / gpu.clockMHz / gpu.units;
  const double l2 = filled / l2PerClock, most = std::max({multiplying, shared, l2});
  return most + kGpuBeside * (multiplying + shared + l2 - most) + kGpuMeet;
}

bool hasCopies(const GpuTarget& gpu) { return hasGpuOp("cp_async16", gpu.family, gpu.generation); }

bool fits(const GpuProduct& p, const GpuTile& t, const GpuTarget& gpu) {
  const int64_t sums = t.m * t.n / t.threads(p);
  return t.threads(p) <= gpu.maxThreads && t.sharedBytes(p) <= gpu.sharedBytes && sums >= 4 && sums <= 64 &&
         occupancyOf(gpu, needsOf(p, t)).groups > 0;
}

/// One stage more than three where as many workgroups fit: then the stage of a step is cheap to count.
GpuTile withFreeStage(const GpuProduct& p, GpuTile t, const GpuTarget& gpu) {
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
      p.core ? tilesOfCore(t.m, p.m, p.core->m) * tilesOfCore(t.n, p.n, p.core->n) : ceilDiv(t.threads(p), kWarpLanes);
  const double wanted = p.core ? kGpuProductsToHide : kGpuWarpsToHide;
  const auto hidden = [&](int64_t resident) {
    return std::max(1.0, std::sqrt(wanted / static_cast<double>(std::max<int64_t>(1, resident * independent))));
  };
  const double masked = p.core && p.k % t.k != 0 ? kGpuMasked : 1;
  const double block = static_cast<double>(ceilDiv(p.k, t.k)) * stepCycles(p, t, gpu) * masked;
  return static_cast<double>(full) * (static_cast<double>(groups) * block * hidden(groups) + kGpuStartCycles) +
         (last > 0 ? static_cast<double>(last) * block * hidden(last) + kGpuStartCycles : 0);
}

std::vector<GpuTile> tilesFor(const GpuProduct& p, const GpuTarget& gpu) {
  struct Priced {
    GpuTile tile;
    double cycles;
  };
  std::vector<Priced> found;
  const auto add = [&](GpuTile tile) {
    if (!fits(p, tile, gpu)) return;
    tile = withFreeStage(p, tile, gpu);
    found.push_back({tile, cyclesOf(p, tile, gpu)});
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
  for (const Priced& each : found) tiles.push_back(each.tile);
  return tiles;
}

}  // namespace svod
