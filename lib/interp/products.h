// Products of one warpgroup that are under way (an internal header of the room).
#pragma once
#include <span>
#include <vector>

#include "interp/thread.h"
#include "ir/tensor_core.h"

namespace svod {

/// A product happens when its warpgroup waits for its group, as late as it may: who reads sums without a wait finds
/// what was there before, and who overwrites factors too early changes it.
class Products {
 public:
  /// An instruction of gpu_ops.def that a warpgroup executes, or a product. Verify where its threads differ.
  Status execute(UOp node, std::span<Thread* const> lanes);

 private:
  /// A factor in local memory (ir/warpgroup_operand.h).
  struct Factor {
    const HostTensor* storage = nullptr;
    int64_t first = 0, apart = 0;
    bool isSwizzled = false;  // indices are places in memory: the product finds pieces where a swizzle has put them
  };
  struct Product {
    const TensorCore* core;
    Factor a, b;
    std::vector<HostTensor*> sums;  // by lane
  };
  static bool isInside(const Factor& factor, int rows, const TensorCore& core);
  Status start(UOp node, std::span<Thread* const> lanes);
  static std::vector<float> valuesOf(const TensorCore& core, const Factor& factor, int rows);
  static void multiply(const Product& product);

  std::vector<Product> open_;
  std::vector<std::vector<Product>> groups_;  // the oldest first
};

}  // namespace svod
