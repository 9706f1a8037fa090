// Non-temporal stores: outputs too large for any cache are written past them.
#pragma once
#include "choose/chooser.h"

namespace svod {

void streamOutputs(Chooser& chooser);

}  // namespace svod
