// Output streams: where results of a command go.
#pragma once
#include <string>
#include <string_view>

#include "command.h"
#include "report/render.h"

namespace svod {

/// To a file, which keeps its time if it holds that text already, or to stdout when `path` is "-".
Status writeResult(const std::string& path, std::string_view text, const Request& request, Console& console);

/// How tables look on stdout.
TextStyle styleOf(const Console& console);
/// On stdout, as JSON where that is asked for.
Status printDocument(const Document& document, const Request& request, Console& console);

}  // namespace svod
