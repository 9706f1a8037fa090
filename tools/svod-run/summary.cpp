#include "summary.h"

#include <algorithm>
#include <cmath>

#include "data/element_value.h"
#include "support/text.h"

namespace svod {

namespace {

constexpr size_t kShown = 8;

struct Statistics {
  long double least = 0, most = 0, sum = 0;  // of the values that are not NaN
  uint64_t counted = 0, nans = 0, infinities = 0;
};

Statistics statisticsOf(const OutputArray& output) {
  Statistics out;
  for (size_t i = 0; i < elementCount(output); i++) {
    const long double value = elementValue(output.dtype, output.data.data(), i);
    if (std::isnan(value)) {
      out.nans++;
      continue;
    }
    if (std::isinf(value)) out.infinities++;
    out.least = out.counted == 0 ? value : std::min(out.least, value);
    out.most = out.counted == 0 ? value : std::max(out.most, value);
    out.sum += value;
    out.counted++;
  }
  return out;
}

std::string numberText(long double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.6Lg", value);
  return text;
}

std::string shapeText(const std::vector<uint64_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); i++) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::vector<std::string> firstValues(const OutputArray& output) {
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(elementCount(output), kShown); i++)
    out.push_back(elementText(output.dtype, output.data.data(), i));
  return out;
}

}  // namespace

size_t elementCount(const OutputArray& output) {
  size_t count = 1;
  for (uint64_t dim : output.shape) count *= dim;
  return count;
}

std::string summaryText(const OutputArray& output) {
  std::string text = printable(output.name) + "  " + std::string(nameOf(output.dtype)) + " " + shapeText(output.shape);
  if (output.data.empty()) return text + "  no elements\n";
  const Statistics stats = statisticsOf(output);
  if (stats.counted > 0 && output.dtype != ElementType::Bool)
    text += "  min " + numberText(stats.least) + "  max " + numberText(stats.most) + "  mean " +
            numberText(stats.sum / static_cast<long double>(stats.counted));
  if (output.dtype == ElementType::Bool) text += "  true " + numberText(stats.sum);
  if (stats.nans > 0) text += "  nan " + std::to_string(stats.nans);
  if (stats.infinities > 0) text += "  inf " + std::to_string(stats.infinities);
  text += "\n  [";
  const std::vector<std::string> values = firstValues(output);
  for (size_t i = 0; i < values.size(); i++) text += (i > 0 ? ", " : "") + values[i];
  const bool more = elementCount(output) > values.size();
  return text + (more ? ", …]\n" : "]\n");
}

nlohmann::ordered_json summaryJson(const OutputArray& output) {
  const Statistics stats = statisticsOf(output);
  nlohmann::ordered_json json = {{"name", output.name}, {"dtype", nameOf(output.dtype)}, {"shape", output.shape}};
  json["first"] = firstValues(output);  // as text: JSON has no NaN and no 64-bit integers
  if (stats.counted > 0 && stats.infinities == 0) {
    json["min"] = static_cast<double>(stats.least);
    json["max"] = static_cast<double>(stats.most);
    json["mean"] = static_cast<double>(stats.sum / static_cast<long double>(stats.counted));
  }
  json["nan"] = stats.nans;
  json["inf"] = stats.infinities;
  return json;
}

std::string tableLine(const std::string& name, size_t width, const std::vector<std::string>& cells, size_t cellWidth) {
  std::string shown = printable(name);
  if (shown.size() > width && width > 8) {
    const size_t tail = (width - 2) / 2;
    shown = shown.substr(0, width - 2 - tail) + ".." + shown.substr(shown.size() - tail);
  }
  std::string text = shown + std::string(width - std::min(width, shown.size()), ' ');
  for (const std::string& cell : cells)
    text += std::string(cell.size() < cellWidth ? cellWidth - cell.size() : 1, ' ') + cell;
  return text + "\n";
}

size_t nameWidth(size_t longest, size_t cells, size_t columns, size_t cellWidth) {
  constexpr size_t kLeast = 20;
  if (columns == 0) return longest;
  return std::min(longest, std::max(kLeast, columns - std::min(columns, cells * cellWidth)));
}

std::string outputFileName(const std::string& name) {
  std::string file = name;
  for (char& c : file) {
    const bool plain =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return file + ".npy";
}

}  // namespace svod
