// Cycles of single instructions.
#pragma once
#include <optional>

#include "facts/accesses.h"
#include "facts/caps.h"

namespace svod {

/// Issue slots and the busiest port of some instructions.
struct Cycles {
  double arithmetic = 0;    // ports of vector arithmetic
  double memory = 0;        // ports of loads and stores
  double instructions = 0;  // started
  Cycles& operator+=(const Cycles& other) {
    arithmetic += other.arithmetic, memory += other.memory, instructions += other.instructions;
    return *this;
  }
};

/// Of one execution of an elementwise op or of the operation of a Reduce, on one vector register or scalar; nothing for
/// constants, addresses and counters.
Cycles cyclesOf(UOp node, const Caps& caps);

/// Instructions that a lane of a GPU executes for one elementwise op that is none of addresses.
double gpuInstructionsOf(UOp node);

/// Of a load or store of `width` lanes along `range`, in `vectors` registers; a width of 1 is a scalar. What lanes that
/// are no neighbours cost is the dearest part of many kernels.
Cycles cyclesOf(const Access& access, UOp range, int64_t width, double vectors, const Caps& caps);

/// Whether an operand is a weight, which is laid out as the kernel reads it.
bool isLaidOut(const Access& access, const Caps& caps);

/// Whether a mask makes the access little dearer; else it is one for each lane.
bool hasMasks(const Access& access, const Caps& caps);

/// Elements from one lane to the next where all are neighbours in memory: a lane may hold a group of a dot product.
int64_t neighbourStride(const Access& access);

/// Bytes of a lane while it is computed: small floats are computed as f32, bools are masks.
int64_t laneBytes(UOp node);

}  // namespace svod
