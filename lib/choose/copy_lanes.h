// The vector axis of copies: of panels (pack A, pack B) and of what windows read.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// The copy into the panel of parameter `slot` runs in vectors of `width` lanes, `vectors` of them at a time where
/// lanes are neighbours in the operand.
void vectorizePanel(Chooser& chooser, uint32_t slot, int64_t width, int64_t vectors);
/// The copy of what windows read of `slot` runs along the lines of the input, in whole vectors.
void vectorizeWindows(Chooser& chooser, uint32_t slot);

}  // namespace svod
