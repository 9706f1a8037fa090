// Data layouts: the order in which buffers between kernels hold the elements of a value.
#pragma once
#include <set>
#include <vector>

#include "ir/model.h"
#include "support/decision.h"
#include "tensor/graph_machine.h"

namespace svod {

/// A value that gets a buffer, and that all its readers see through one permutation of its axes (the heads of an
/// attention), is stored in their order, as long as what lies next to each other stays so: whoever writes it loses
/// nothing, and rows stand one after the other for those who read it. `kept`, by id: the values that get a buffer.
/// Returns the changed graph; `uncut`, ids of nodes, follows it.
UOp layOutForReaders(Model& model, UOp sink, const std::vector<bool>& kept, std::set<uint32_t>& uncut,
                     const GraphMachine& machine, Decisions& decisions);

}  // namespace svod
