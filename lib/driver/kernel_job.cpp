#include "driver/kernel_job.h"

namespace svod {

KernelJob kernelJob(const Target& target, const Machine& machine, Numerics numerics, int optLevel) {
  KernelJob job;
  job.optLevel = optLevel;
  job.caps = target.caps(machine, numerics);
  job.legalize = target.legal(machine, numerics);
  if (const auto* gpu = std::get_if<GpuTarget>(&machine)) job.limits = gpu->limits;
  return job;
}

}  // namespace svod
