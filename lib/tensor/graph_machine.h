// What decisions about a graph know of the machine, before there are loops.
#pragma once
#include <cstdint>

namespace svod {

/// Of a GPU. All are 0 where a processor runs the kernels.
struct GraphGpu {
  double threads = 0;        // that hide the latency of memory, where all of them have work
  double bytes = 0;          // between all units and memory, per nanosecond
  double lanes = 0;          // multiply-adds of all single lanes per nanosecond
  double cores = 0;          // those of the tensor cores, of f16 and bf16
  double rowThreads = 0;     // of a workgroup, that share a long row
  double columnThreads = 0;  // the same of a column
};

/// Bytes. The defaults describe a core with vectors of 64 bytes and 1 MiB of second level cache.
struct GraphMachine {
  int64_t runBytes = 128;         // that are best written as one: two vectors, or what the threads of a warp write
  int64_t cacheBytes = 1 << 20;   // what stays between kernels: the second level cache, all of it where units share it
  int64_t sweepBytes = 1 << 20;   // what stays between loops of a kernel: the part of it that one core or unit has
  int64_t heldBytes = 128 << 10;  // of a row at most that a kernel holds: several of them are its own memory
  int64_t viewBytes = 1;          // a part of a buffer that begins at a multiple of them is used where it lies
  bool narrowProducts = false;    // tensor cores multiply f16 and bf16 that are widened in the graph
  bool bf16Dots = false;          // sums of products of bf16 become dot product instructions
  int64_t lastBytes = 36 << 20;   // what stays in the last cache there is
  double lastRate = 20.4, memoryRate = 12;  // bytes per nanosecond between one core and that cache, and memory
  double multiplies =
      57.6;  // of f32, with their additions, per nanosecond and core; 0 where memory is as short as time
  GraphGpu gpu = {};
};

}  // namespace svod
