// Machines the tests choose for.
#pragma once
#include "facts/caps.h"

namespace svod {

/// Eight cores with vectors of 64 bytes and masks.
inline Caps avx512() {
  Caps caps;
  caps.vectorBytes = 64, caps.vectorRegisters = 32, caps.fmaPerCycle = 2, caps.maskedBytes = 1;
  caps.l2Bytes = 1 << 20, caps.workers = 8;
  return caps;
}

/// Vectors of 32 bytes; all else as of any processor.
inline Caps avx2() {
  Caps caps;
  caps.vectorBytes = 32;
  return caps;
}

}  // namespace svod
