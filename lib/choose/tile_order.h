// Which of two loops over register tiles runs inside of the other.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// The two outermost loops of results change places where the kernel is expected to take less time then: what the outer
/// one walks along is read once, what the inner one walks along again and again.
void orderTiles(Chooser& chooser);

}  // namespace svod
