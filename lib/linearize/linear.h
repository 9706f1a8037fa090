// LinearKernel: one kernel as a list of instructions, the input of every target.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/numerics.h"

namespace svod {

struct KernelParam {
  UOp param;  // Op::Param; its dtype is the storage dtype, src0 the maximum number of elements
  bool read = false, written = false;
  bool inPlace = false;  // the result may lie exactly on it; every element is read before the same place is written
};

/// `ops` holds every node once, sources before users. A Range opens a loop that the End naming it closes; loops nest
/// properly. After is an alias of src0. A Thread range runs over [tileBegin, tileEnd) instead of [0, src0).
/// Values have shape () or (w); a () operand of a vector op is broadcast. All UOps belong to the kernel's Graph.
struct LinearKernel {
  std::string name;  // symbol, a C identifier
  std::vector<UOp> ops;
  std::vector<KernelParam> params;  // by slot: position in the `buffers` argument
  std::vector<UOp> variables;       // Op::Var: position in the `values` argument
  UOp threadRange;                  // null: the kernel has one tile
  int64_t scratchBytes = 0;         // Local buffers, each 64-byte aligned, in order of their slots
  Numerics numerics = Numerics::Contract;
};

}  // namespace svod
