// Operator fusion: which values of a tensor graph are kept in a buffer, and which are held row by row inside of the
// kernel that uses them. Everything else is computed where it is used, such as the epilogue of a product in its kernel.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "ir/model.h"
#include "support/decision.h"
#include "tensor/dot_operands.h"
#include "tensor/graph_machine.h"

namespace svod {

struct Fusion {
  /// By node id of the tensor graph: true when the value gets a buffer. Storage itself (Buffer, After) is not marked.
  std::vector<bool> kept;
  /// By node id: the axes of a value that a kernel holds in a local buffer; it is filled where the other axes are open.
  std::map<uint32_t, std::vector<int>> rows;
  /// For every value with a choice: fuse, keep or rows. What was asked for is not in them yet.
  std::vector<Decision> decisions;
};

struct FusionOptions {
  const std::set<uint32_t>& uncut;    // ids of values that are not kept for the size of their kernel
  std::span<const Bf16Product> dots;  // products that take bf16 operands as they are, if all of their readers do
  const GraphMachine& machine;
};

/// Walks from the outputs to the inputs. For each value it knows every way the value is read: by which kernel, and at
/// which index as a function of that kernel's axes. Values that are read at one index by one kernel are computed
/// there. A reduction is computed in place only if no element of it is computed twice: its index uses the leading axes
/// of the kernel, so its loop is hoisted out of the others (softmax becomes one kernel). What only the reductions of
/// one kernel read, along the same axes, is held row by row where a product makes those rows (attention becomes one
/// kernel). Everything else weighs the arithmetic of computing again against writing and reading memory. What makes a
/// kernel too large is kept as well. What `decisions` has answers to is as these say.
Fusion chooseFusion(const Model& model, UOp sink, const FusionOptions& options, const Decisions& decisions);

/// Every value is kept that is computed and can be: sizes and positions, which no memory is read for, are not.
Fusion keepAll(UOp sink);

}  // namespace svod
