// The fusion decision: which values of a tensor graph are kept in a buffer. Everything else is computed inside the
// kernels that use it.
#pragma once
#include <set>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// By node id of the tensor graph: true when the value gets a buffer. Storage itself (Buffer, After) is not marked.
///
/// Walks from the outputs to the inputs. For each value it knows every way the value is read: by which kernel, and at
/// which index as a function of that kernel's axes. Values that are read at one index by one kernel are computed
/// there. A reduction is computed in place only if no element of it is computed twice: its index uses the leading axes
/// of the kernel, so its loop is hoisted out of the others (softmax becomes one kernel). Everything else weighs the
/// arithmetic of computing again against writing and reading memory. What makes a kernel too large is kept as well, other
/// than values whose ids are in `whole`.
std::vector<bool> chooseMaterialized(UOp sink, const std::set<uint32_t>& whole);

/// True for nodes that are storage or always have a buffer of their own.
bool isStorage(UOp node);

}  // namespace svod
