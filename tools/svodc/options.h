// From flags to the options of the rooms.
#pragma once
#include "command.h"
#include "driver/compile.h"
#include "frontend/frontend.h"

namespace svod {

/// Errors: Usage, naming what a flag accepts; Unsupported for an unknown CPU or triple.
Result<CompileOptions> compileOptions(const Request& request);
Result<LoadOptions> loadOptions(const Flags& flags);
Result<CpuTarget> cpuTarget(const Flags& flags);

/// A graph file read from `path`, or from stdin when it is "-".
Result<GraphFile> readGraph(const std::string& path);

/// "model" of "path/model.svod".
std::string graphName(const std::string& path);

}  // namespace svod
