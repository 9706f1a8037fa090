// How many workgroups of a kernel share a unit of a GPU, and what keeps it from more.
#pragma once
#include <string_view>

#include "machine/gpu.h"

namespace svod {

/// What a kernel takes: registers of a thread, bytes of shared memory of a workgroup, threads of it.
struct GpuNeeds {
  int64_t registers = 0, sharedBytes = 0, threads = 1;
};

struct Occupancy {
  int64_t groups = 0;      // on one unit at a time; 0: none fits
  double share = 0;        // of the threads that a unit can hold
  std::string_view limit;  // registers, shared memory, threads or workgroups
};

/// Registers are given to warps in pieces of 256, shared memory with 1 KiB more for each workgroup.
Occupancy occupancyOf(const GpuTarget& gpu, const GpuNeeds& needs);

}  // namespace svod
