#include "machine/gpu.h"

namespace svod {

namespace {

std::string extents(const std::array<int64_t, 3>& e) {
  return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]);
}

}  // namespace

std::string toText(const GpuTarget& gpu) {
  const char* family = gpu.family == GpuFamily::Cuda ? "cuda" : "metal";
  return "gpu: " + gpu.name + "\nfamily: " + family + ", generation " + std::to_string(gpu.generation) +
         "\ngrid: " + extents(gpu.limits.grid) + " workgroups\nworkgroup: " + std::to_string(gpu.maxThreads) +
         " threads, at most " + extents(gpu.limits.group) + "\nshared: " + std::to_string(gpu.sharedBytes) +
         " bytes\nL2: " + std::to_string(gpu.l2Bytes) + " bytes\nunits: " + std::to_string(gpu.units) +
         "\nclock: " + std::to_string(gpu.clockMHz) + " MHz, " + std::to_string(gpu.memoryMBs) + " MB/s of memory\n";
}

}  // namespace svod
