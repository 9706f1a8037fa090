// Reports of svodc tune as text.
#pragma once
#include <string>

#include "command.h"
#include "report/document.h"

namespace svod {

/// As JSON, or as text: as wide as the console, without what is for programs alone.
std::string tuneText(Document document, const Request& request, const Console& console);

}  // namespace svod
