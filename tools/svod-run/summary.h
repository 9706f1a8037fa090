// Outputs for people: shape, dtype, a few values and their range; lines of tables.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "session.h"

namespace svod {

size_t elementCount(const OutputArray& output);

/// One or two lines.
std::string summaryText(const OutputArray& output);
nlohmann::ordered_json summaryJson(const OutputArray& output);

/// A line of a table: the name in `width` columns, without its middle where it is longer, then the cells,
/// right-aligned.
std::string tableLine(const std::string& name, size_t width, const std::vector<std::string>& cells,
                      size_t cellWidth = 11);
/// How many columns of `columns` are left for names beside so many cells; all where `columns` is 0.
size_t nameWidth(size_t longest, size_t cells, size_t columns, size_t cellWidth);

/// The file name of an output: characters outside [A-Za-z0-9._-] become '_'.
std::string outputFileName(const std::string& name);

}  // namespace svod
