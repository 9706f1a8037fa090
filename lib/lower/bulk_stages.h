// TMA stages: the part of a software pipeline that bulk copies fill (an internal header of the room).
#pragma once
#include <vector>

#include "ir/tensor_box.h"
#include "machine/gpu.h"

namespace svod {

/// One thread starts the copies of a stage, whose bytes arrive at the mbarrier of the stage. The phases of a stage are
/// counted over all times that its loop runs.
class BulkStages {
 public:
  /// `outer`: the loops around `loop`, the outermost first.
  BulkStages(Graph& graph, const GpuTarget& gpu, UOp sink, UOp loop, std::vector<UOp> outer);

  /// Whether a bulk copy fills `buffer` by these effects; then it does, in its place `ring`.
  bool take(std::span<const UOp> effects, UOp buffer, UOp ring);
  bool isEmpty() const { return copies_.empty(); }

  /// Behind this, the elected thread may start copies that arrive at mbarriers of so many stages; others know these
  /// behind a meeting.
  UOp made(int64_t stages);
  /// The copies of iteration `step` into a stage, where the iteration exists.
  UOp started(UOp step, UOp stage, UOp exists, std::span<const UOp> after, UOp loop);
  /// The stage of this iteration is there.
  UOp arrived(std::span<const UOp> after);

 private:
  struct Copy {
    TensorBox box;
    UOp map, ring;
    int64_t elements;  // of a stage
  };
  UOp mbarrierOf(UOp stage) { return g_.indexInto(mbarriers_, {&stage, 1}); }
  UOp mapOf(const TensorBox& box, int64_t swizzle);
  UOp coordinate(const TensorBox::Coordinate& at, UOp step);

  Graph& g_;
  const UOp sink_, loop_;
  const std::vector<UOp> outer_;
  bool isPossible_;  // the GPU has bulk copies, and the workgroup whole warps
  uint32_t slot_ = 0;
  int64_t stages_ = 0;
  UOp mbarriers_, elected_;
  std::vector<Copy> copies_;
};

/// The loops that are open around `loop`, the outermost first.
std::vector<UOp> loopsAround(UOp sink, UOp loop);

}  // namespace svod
