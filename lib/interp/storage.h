// Memory of a running kernel: parameters and local buffers, with every access checked (an internal header of the room).
#pragma once
#include "interp/interp.h"
#include "interp/lanes.h"

namespace svod {

/// A loaded or stored place: elements of `storage` per lane.
struct Address {
  UOp index;  // the Index node
  HostTensor* storage = nullptr;
  LaneValues at;  // flat element per lane
};

/// Row-major flat element of one index per dim; an index outside its dim gives -1, which every access rejects.
LaneValues flatIndex(std::span<const int64_t> dims, std::span<const LaneValues* const> indices);

/// `gate` null: every lane is taken. `alt` is what untaken lanes give. `dtype` is that of the loading node.
Result<LaneValues> loadLanes(UOp node, const Address& address, const LaneValues* alt, const LaneValues* gate);
Status storeLanes(UOp node, const Address& address, const LaneValues& value, const LaneValues* gate);

bool anyLane(const LaneValues& gate);

/// The tensor bound to a Param, checked against its element size.
Result<HostTensor*> boundBuffer(UOp param, size_t position, std::span<HostTensor> buffers);
Result<Scalar> boundVariable(UOp variable, const VariableValues& values);
/// Zeroed storage for a Buffer or Fill node; dims must be constant.
HostTensor makeLocal(UOp node);
std::vector<int64_t> constDims(UOp node);

}  // namespace svod
