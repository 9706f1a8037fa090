// Grouped convolutions: loops along which an operand changes every n iterations only.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Splits output loops along which what a load reads changes every n iterations only (grouped convolutions): the rows
/// of a group share it. The class of the kernel is that of the result.
void splitGroups(Chooser& chooser);

}  // namespace svod
