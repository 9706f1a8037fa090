// From flags to the options of the rooms.
#pragma once
#include "command.h"
#include "console/console.h"
#include "driver/compile.h"
#include "frontend/frontend.h"

namespace svod {

/// Errors: Usage, naming what a flag accepts; Unsupported for an unknown CPU or triple.
Result<CompileOptions> compileOptions(const Request& request);
Result<LoadOptions> loadOptions(const Flags& flags);

/// What gave a flag its value: "--beam", or "SVOD_BEAM" where that did. Presets count as the flag.
std::string sourceOf(const Request& request, std::string_view flag);

/// "model" of "path/model.svod".
std::string graphName(const std::string& path);

}  // namespace svod
