// Target c: one C11 file, and the library it is built to. Loops are those that suit the processor, by default any one
// of the architecture, while the text uses no instruction of its own: whoever compiles it may do that for another one.
#pragma once
#include "target/target.h"

namespace svod::c {

extern const Target kTarget;

}  // namespace svod::c
