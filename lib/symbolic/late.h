// The rules for kernels whose loops are written out: values are scalars or vectors, and gates often constants.
#pragma once
#include "symbolic/symbolic.h"

namespace svod {

/// kSymbolic (or kSymbolicFast), and loads whose gate is constant. Immutable.
const RuleSet& lateRules(Numerics numerics);

}  // namespace svod
