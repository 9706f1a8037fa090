// From flags to the options of the rooms.
#pragma once
#include "command.h"
#include "console/console.h"
#include "driver/compile.h"
#include "frontend/frontend.h"
#include "report/render.h"

namespace svod {

/// Errors: Usage, naming what a flag accepts; Unsupported for an unknown CPU or triple.
Result<CompileOptions> compileOptions(const Request& request);
Result<LoadOptions> loadOptions(const Flags& flags);
/// A graph file read from `path`, or from stdin when it is "-".
Result<GraphFile> readGraph(const std::string& path);

/// To a file, which keeps its time if it holds that text already, or to stdout when `path` is "-".
Status writeResult(const std::string& path, std::string_view text, const Request& request, Console& console);

/// How tables look on stdout.
TextStyle styleOf(const Console& console);
/// On stdout, as JSON where that is asked for.
Status printDocument(const Document& document, const Request& request, Console& console);

/// What gave a flag its value: "--beam", or "SVOD_BEAM" where that did. Presets count as the flag.
std::string sourceOf(const Request& request, std::string_view flag);

/// "model" of "path/model.svod".
std::string graphName(const std::string& path);

}  // namespace svod
