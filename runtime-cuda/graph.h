// A batch as a CUDA graph, which is made once, node by node, and launched with one call. Where sizes or addresses
// change, nodes of it are changed; where works do, another one is made.
#pragma once
#include "runtime-cuda/cuda_device.h"

namespace svod::cuda {

/// Whether the batch is worth a graph, and can be one.
bool fitsGraph(const DeviceBatch& batch);

/// Launches the batch on the stream of the device, whose context is current and whose lock is held. After an error
/// `first` and `last` are the tags of the works that it may come from.
Code giveGraph(CudaDevice& device, DeviceBatch& batch, uint32_t& first, uint32_t& last);

}  // namespace svod::cuda
