// Target cpu: LLVM to objects, LLD to kernels.so where processors load such files.
#pragma once
#include "target/target.h"

namespace svod::cpu {

extern const Target kTarget;

}  // namespace svod::cpu
