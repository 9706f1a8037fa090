#include "driver/kernel_job.h"

#include <algorithm>

#include "cost/parameters.h"
#include "ir/gpu_op.h"

namespace svod {

KernelJob kernelJob(const Target& target, const Machine& machine, Numerics numerics, int optLevel) {
  KernelJob job;
  job.optLevel = optLevel;
  job.caps = target.caps(machine, numerics);
  job.legalize = target.legal(machine, numerics);
  return job;
}

Machine machineFor(Machine machine, Numerics numerics) {
  auto* cpu = std::get_if<CpuTarget>(&machine);
  if (cpu == nullptr || cpu->arch != Arch::Arm || numerics == Numerics::Fast || std::erase(cpu->features, "neon") == 0)
    return machine;
  cpu->vectorBytes = 8;
  return machine;
}

namespace {

GraphGpu graphGpu(const Caps& caps) {
  const GpuTarget& gpu = caps.gpu;
  const double clocks = gpu.units * gpu.clockMHz / 1000.0;
  return {.threads = parameters::kWarpsWanted * kWarpLanes * gpu.units,
          .bytes = gpu.memoryMBs / 1000.0,
          .lanes = gpu.lanes * clocks,
          .cores = std::max(gpu.coreLanes, gpu.warpgroupLanes) * clocks,
          .rowThreads = parameters::kGpuRowThreads,
          .columnThreads = parameters::kGpuColumnThreads};
}

/// Cores without vectors are those of small devices.
double multipliesPerNs(const Caps& caps) {
  constexpr int kLeastVector = 16;
  if (caps.vectorBytes < kLeastVector) return 0;
  return static_cast<double>(caps.vectorBytes / byteSize(DType::F32) * caps.fmaPerCycle) * caps.clockMHz / 1000.0;
}

}  // namespace

GraphMachine graphMachine(const Caps& caps) {
  constexpr int64_t kWarpBytes = kWarpLanes * 4;
  GraphMachine machine{.cacheBytes = caps.l2Bytes, .sweepBytes = caps.l2Bytes, .bf16Dots = caps.bf16Dots};
  if (caps.workgroups) {
    machine.runBytes = kWarpBytes, machine.heldBytes = caps.sharedBytes, machine.viewBytes = kAccessBytes;
    machine.sweepBytes = caps.l2Bytes / std::max(1, caps.workers), machine.gpu = graphGpu(caps);
    machine.lastBytes = caps.l2Bytes, machine.lastRate = machine.memoryRate = machine.gpu.bytes;
    machine.multiplies = machine.gpu.lanes;
    machine.narrowProducts =
        std::ranges::any_of(caps.cores, [](const TensorCore* core) { return info(core->in).bits == 16; });
  } else {
    machine.runBytes = 2 * caps.vectorBytes, machine.heldBytes = caps.scratchBytes / parameters::kMostBlockRows;
    machine.lastBytes = caps.l3Bytes, machine.lastRate = caps.l3MBs / 1000.0,
    machine.memoryRate = caps.memoryMBs / 1000.0;
    machine.multiplies = multipliesPerNs(caps);
  }
  return machine;
}

}  // namespace svod
