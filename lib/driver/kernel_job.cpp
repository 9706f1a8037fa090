#include "driver/kernel_job.h"

namespace svod {

KernelJob kernelJob(const Target& target, const CpuTarget& cpu, Numerics numerics, int optLevel) {
  KernelJob job;
  job.optLevel = optLevel;
  job.caps = capsOf(cpu, numerics);
  job.caps.bf16Dots &= target.usesCpuFeatures;
  job.legalize.numerics = numerics;
  job.legalize.fma = target.usesCpuFeatures && cpu.hasFma();
  job.legalize.nativeScaleb = target.usesCpuFeatures && cpu.hasScaleb();
  job.legalize.nativeF16 = target.usesCpuFeatures && cpu.has("f16c");
  job.legalize.nativeBf16 = target.usesCpuFeatures && cpu.hasBf16Dots();
  return job;
}

}  // namespace svod
