// Ahead-of-time candidates: compiled where nothing can be measured, for machines that measure later.
#pragma once
#include <string>
#include <vector>

#include "report/document.h"
#include "tune/kernel_turns.h"

namespace svod {

/// Compiles what a search of each kernel begins with and the best changes by the cost model, until `settings.deadline`,
/// into the folder `settings.ahead`, where the units that measure find it. `writer` is like no other's. What `log`
/// knows is left out. Errors: Io.
Result<Document> compileAhead(const std::vector<TuneKernel>& kernels, const TuningLog& log,
                              const TuneSettings& settings, const std::string& writer);

}  // namespace svod
