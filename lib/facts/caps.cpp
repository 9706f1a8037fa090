#include "facts/caps.h"

#include "support/cpu_features.h"

namespace svod {

Caps capsOf(const CpuTarget& cpu, Numerics numerics) {
  Caps caps;
  caps.vectorBytes = cpu.vectorBytes;
  caps.vectorRegisters = cpu.vectorRegisters;
  caps.fmaPerCycle = cpu.fmaPerCycle;
  caps.fmaLatency = cpu.fmaLatency;
  caps.maskedBytes = cpu.maskedBytes();
  caps.mixedDots = cpu.hasMixedDots(), caps.likeDots = cpu.hasLikeDots();
  caps.bf16Dots = cpu.hasBf16Dots() && numerics != Numerics::Strict;
  for (const TileUnit& unit : allTileUnits())
    if (cpu.has(unit.feature) && cpu.has(kTileFeature) && (!isFloat(unit.in) || numerics != Numerics::Strict))
      caps.tiles.push_back(&unit);
  if (cpu.l1Bytes > 0) caps.l1Bytes = cpu.l1Bytes;
  if (cpu.l2Bytes > 0) caps.l2Bytes = cpu.l2Bytes;
  if (cpu.l3Bytes > 0) caps.l3Bytes = cpu.l3Bytes;
  caps.lineBytes = cpu.lineBytes;
  caps.workers = cpu.cores;
  caps.clockMHz = cpu.clockMHz;
  caps.issued = cpu.issued;
  caps.gatheredLane = cpu.gatheredLane;
  caps.l3MBs = cpu.l3MBs;
  caps.memoryMBs = cpu.memoryMBs;
  caps.numerics = numerics;
  return caps;
}

Caps capsOf(const GpuTarget& gpu, Numerics numerics) {
  Caps caps;
  caps.workgroups = true, caps.threads = false;
  caps.gpu = gpu;
  caps.maxLocal = gpu.maxThreads;
  caps.sharedBytes = gpu.sharedBytes;
  caps.cores = tensorCoresOf(gpu.family, gpu.generation, gpu.warpgroupLanes > 0);
  caps.l2Bytes = caps.l3Bytes = gpu.l2Bytes;
  caps.workers = gpu.units;
  caps.clockMHz = gpu.clockMHz;
  caps.memoryMBs = gpu.memoryMBs;
  caps.numerics = numerics;
  return caps;
}

bool mayReassociate(const Caps& caps, DType dtype) { return !isFloat(dtype) || caps.numerics != Numerics::Strict; }

}  // namespace svod
