#include "target/cuda/print_cuda.h"

namespace svod {

namespace {

constinit const GridDialect kCuda{.ops = kC11,
                                  .head = "SVOD_KERNEL($n)",
                                  .restricted = "SVOD_RESTRICT",
                                  .shared = "SVOD_SHARED($n);",
                                  .rounds = "SVOD_ROUNDS($n)"};

}  // namespace

Result<GridText> printCuda(const LinearKernel& kernel, size_t arguments, int64_t threads) {
  return printGrid(kCuda, kernel, arguments, threads);
}

}  // namespace svod
