// wgmma: sums of products that warpgroups compute from shared memory (sm_90a).
#pragma once
#include <functional>
#include <span>

#include "ir/tensor_core_form.h"

namespace svod {

/// Addresses of the first elements of two factors, and how far their parts are apart.
struct WarpgroupTerm {
  UOp a, b;
  int64_t aApart, bApart;
};
/// One term of the form, `expanded` as an address is. The form finds its factors (symbolic/memory_factor.h).
WarpgroupTerm warpgroupTerm(Graph& graph, const CoreForm& form, const std::function<UOp(UOp)>& expanded);

/// All sums of a lane: registers `slot` to which a group of products adds `terms` in every iteration of `loops`, and
/// which is waited for there.
UOp sumOfWarpgroup(Graph& graph, uint32_t slot, const TensorCore& core, std::span<const UOp> loops,
                   std::span<const WarpgroupTerm> terms);

/// Lowered stage: the wait at the end of each iteration of `loop` for the products that it starts, where these read
/// nothing but `filled` buffers; null elsewhere.
UOp waitForRings(UOp sink, UOp loop, std::span<const UOp> filled);
/// The same with the group of each iteration under way in the next one, whose wait is for it.
UOp leaveUnderWay(Graph& graph, UOp sink, UOp wait);
/// Behind the `end` of that loop all of them are done.
UOp allDone(Graph& graph, UOp wait, UOp end);

/// Lowered stage in and out, with barriers: those behind which a warpgroup multiplies what was copied to local memory
/// come after a fence that shows it to products.
UOp fenceProducts(Graph& graph, UOp sink);

}  // namespace svod
