// A reduction in parts: what each part of the terms gives, and what these give together.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tensor/graph_machine.h"
#include "tensor/node_names.h"

namespace svod {

/// `x` with `axis` as two: parts, and the terms of a part.
UOp inParts(Graph& graph, UOp x, int32_t axis, int64_t parts);

/// What a reduction computes, as a monoid over one or several values per result (a sum; a maximum with the sum that is
/// relative to it): folding each part of the terms and merging what the parts give is folding all terms, up to
/// rounding.
struct Monoid {
  using Values = std::vector<UOp>;
  std::function<Values(UOp terms, std::span<const int32_t> axes)> fold;
  std::function<Values(const Values& parts, int32_t axis)> merge;
};
/// That of one associative op.
Monoid monoidOf(Graph& graph, Op op);

/// Folds `terms` along `axes`, for every part along another axis; this is `partAxis` of what the parts give. That is
/// stored, so that the parts have a kernel of their own, which threads share; then merged.
Monoid::Values reducedInParts(Graph& graph, const Monoid& monoid, UOp terms, std::span<const int32_t> axes,
                              int32_t partAxis);

/// Whether a buffer would round what parts of a reduction give: sums of small floats.
bool roundsParts(UOp reduce);

/// What a reduction takes on a GPU.
struct GpuReduction {
  double bytes;    // that are read
  double results;  // of one part
  double threads;  // that share one of them
};
/// Nanoseconds: threads are idle where results are few; those of parts take another kernel.
double timeOf(const GpuReduction& reduction, int64_t parts, const GraphGpu& gpu);
/// How many parts give all threads work, a power of two; 1 where fewer kernels take less time.
int64_t partsFor(const GpuReduction& reduction, int64_t extent, const GraphGpu& gpu);

/// What a number of parts costs (tensor/work.h); none: not known.
using CostOfParts = std::function<std::optional<double>(int64_t parts)>;

/// Into how many equal parts `extent` terms of `reduce` go, as decided; at most 1 for none. `kind` is that of the
/// decision, `parts` the usual choice.
int64_t decideParts(NodeDecisions& decisions, const char* kind, UOp reduce, int64_t extent, int64_t parts,
                    const char* reason, const CostOfParts& costOf = {});

/// In a buffer.
UOp stored(Graph& graph, UOp value);

}  // namespace svod
