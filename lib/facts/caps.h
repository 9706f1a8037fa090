// Caps: all that opts, their costs and their choice may know about the machine and the flags of a compile.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/dtype.h"
#include "ir/numerics.h"
#include "ir/tensor_core.h"
#include "ir/tile_unit.h"
#include "machine/machine.h"

namespace svod {

/// Sizes in bytes. The defaults describe a small 128-bit CPU.
struct Caps {
  int vectorBytes = 16;
  int vectorRegisters = 16;
  int fmaPerCycle = 1;                       // full-width instructions started per cycle
  int fmaLatency = 4;                        // cycles until the result can be used
  bool mixedDots = false, likeDots = false;  // dot products of bytes: unsigned with signed, and of one sign
  bool bf16Dots = false;                     // and of bf16, where numerics allow them
  int maskedBytes = 0;                       // elements of this size and more have cheap masks; 0: none has
  int64_t l1Bytes = 32 << 10, l2Bytes = 256 << 10, lineBytes = 64;
  int64_t l3Bytes = 8 << 20;             // the last cache there is; results this large are written past it
  int64_t scratchBytes = 8 << 20;        // most that the Local buffers of one kernel may take
  bool threads = true;                   // kernels are split into tiles for worker threads
  int clockMHz = 2000;                   // for predictions of time, and the choice among seeds
  int issued = 4;                        // instructions started per cycle
  double gatheredLane = 0.6;             // cycles of one lane of a gather
  int l3MBs = 13600;                     // MB per second between one thread and the last cache
  int memoryMBs = 8000;                  // and memory
  int workers = 1;                       // threads to make enough tiles for; results never depend on it
  bool workgroups = false;               // a GPU: Global, Local and Group axes exist
  int maxLocal = 1024;                   // threads of one workgroup
  int64_t sharedBytes = 48 << 10;        // memory a workgroup shares
  GpuTarget gpu;                         // where there are workgroups: what predictions and instructions ask for
  std::vector<const TensorCore*> cores;  // tensor cores of a GPU, as tc numbers them
  std::vector<const TileUnit*> tiles;    // tile units of a processor, as tc numbers them
  int maxCopies = 512;                   // values one expression may be expanded into by Upcast and Unroll ranges
  bool overwrites = false;               // the result may lie on an operand: no element may be computed twice
  std::vector<uint32_t>
      constants;  // slots of operands that are laid out, when the plan is built, as the kernel reads them
  bool areConstantsNear = false;  // they are where they fit, as after a run of a small network; else in memory
  Numerics numerics = Numerics::Contract;
};

/// What a compile for a processor or a GPU may use.
Caps capsOf(const CpuTarget& cpu, Numerics numerics);
Caps capsOf(const GpuTarget& gpu, Numerics numerics);

/// Whether a reduction of `dtype` may be computed in another order than its ranges give.
bool mayReassociate(const Caps& caps, DType dtype);

}  // namespace svod
