#include "driver/kernel_job.h"

#include <algorithm>

#include "ir/gpu_op.h"

namespace svod {

KernelJob kernelJob(const Target& target, const Machine& machine, Numerics numerics, int optLevel) {
  KernelJob job;
  job.optLevel = optLevel;
  job.caps = target.caps(machine, numerics);
  job.legalize = target.legal(machine, numerics);
  return job;
}

GraphMachine graphMachine(const Caps& caps) {
  constexpr int64_t kWarpBytes = 128;  // 32 threads, 4 bytes each
  constexpr int64_t kHeldRows = 64;    // that are in a kernel's own memory at a time
  GraphMachine machine{.cacheBytes = caps.l2Bytes, .sweepBytes = caps.l2Bytes, .bf16Dots = caps.bf16Dots};
  if (caps.workgroups) {
    machine.runBytes = kWarpBytes, machine.heldBytes = caps.sharedBytes, machine.viewBytes = kAccessBytes;
    machine.sweepBytes = caps.l2Bytes / std::max(1, caps.workers);
    machine.narrowProducts =
        std::ranges::any_of(caps.cores, [](const TensorCore* core) { return info(core->in).bits == 16; });
  } else {
    machine.runBytes = 2 * caps.vectorBytes, machine.heldBytes = caps.scratchBytes / kHeldRows;
  }
  return machine;
}

}  // namespace svod
