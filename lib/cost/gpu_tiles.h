// Tiles of matrix products for the workgroups of a GPU, and how many cycles they are expected to take.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/tensor_core.h"
#include "machine/gpu.h"

namespace svod {

/// `batch` products of m x k and k x n. Sizes are extents at their maximum.
struct GpuProduct {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t bytes = 4;                 // of an element of the factors
  const TensorCore* core = nullptr;  // null: multiply-adds of single lanes
  int64_t resultBytes = 4;           // of an element of the result
  bool stashes = false;              // whether results may go out through memory of the workgroup
};

/// What a workgroup computes: m x n results, k terms at a time, which `stages` buffers hold. Rows and columns of its
/// threads, or of its warps where tensor cores multiply; these may be there once for each of some slices of the terms,
/// whose sums are added up in the end. Whether the results go out through memory of the workgroup.
struct GpuTile {
  int64_t m, n, k;
  int rows, columns, stages, slices = 1;
  bool isStashed = false;

  int parts() const { return rows * columns * slices; }
  int threads(const GpuProduct& product) const { return parts() * (product.core ? product.core->threads() : 1); }
  int64_t sharedBytes(const GpuProduct& product) const {
    return stages * (m + n) * k * product.bytes + (slices > 1 ? slices * m * n * 4 : 0) +
           (isStashed ? m * n * product.resultBytes : 0);
  }
};

/// Cycles of the whole product: the slowest of multiplying, of the memory that workgroups share and of L2, in whole
/// waves of workgroups.
double cyclesOf(const GpuProduct& product, const GpuTile& tile, const GpuTarget& gpu);

/// Tiles that fit the GPU, those with the fewest cycles first.
std::vector<GpuTile> tilesFor(const GpuProduct& product, const GpuTarget& gpu);

}  // namespace svod
