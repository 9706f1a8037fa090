// Outputs for people: shape, dtype, a few values and their range.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "session.h"

namespace svod {

size_t elementCount(const OutputArray& output);

/// One or two lines.
std::string summaryText(const OutputArray& output);
nlohmann::ordered_json summaryJson(const OutputArray& output);

/// The file name of an output: characters outside [A-Za-z0-9._-] become '_'.
std::string outputFileName(const std::string& name);

}  // namespace svod
