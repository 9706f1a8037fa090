// The flags that units of tuning work have from their plan.
#pragma once
#include <vector>

#include "flags.h"
#include "tune/units.h"

namespace svod {

std::vector<WorkSetting> plannedSettings(const Flags& flags);
/// The other flags get their defaults. Errors: Syntax, where one is missing or of another kind.
Status takeSettings(const TuneWork& work, Flags& flags);

}  // namespace svod
