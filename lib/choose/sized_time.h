// What a kernel of free sizes costs in a run of these sizes.
#pragma once
#include <span>

#include "choose/size_points.h"
#include "facts/caps.h"

namespace svod {

/// A kernel with opts, as if its sizes were these.
UOp kernelAt(Graph& graph, UOp sink, const SizePoints& points, std::span<const int64_t> sizes, const Caps& caps);
/// What a kernel with opts takes at these sizes, in nanoseconds, shared by all workers: between weights from memory, as
/// in a large network, and weights that the run before left in caches. Whole tiles of rows, and what is left behind
/// them, are priced apart.
double timeAt(Graph& graph, UOp sink, const SizePoints& points, std::span<const int64_t> sizes, const Caps& caps);

}  // namespace svod
