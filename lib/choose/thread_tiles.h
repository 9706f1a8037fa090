// Multithreading: which output loops are cut into tiles for worker threads.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Thread axes until there are enough tiles for the workers, where there is enough to do.
void splitForThreads(Chooser& chooser);

}  // namespace svod
