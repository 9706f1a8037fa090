#include "reference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "data/element_value.h"
#include "summary.h"
#include "support/text.h"

namespace svod {

namespace {

std::string indexText(size_t element, const std::vector<uint64_t>& shape) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
    text = std::to_string(element % shape[axis]) + (text.empty() ? "" : ", " + text);
  return "[" + text + "]";
}

bool agree(long double got, long double want, const Tolerance& allowed) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (std::isinf(got) || std::isinf(want)) return got == want;
  return std::fabs(got - want) <= allowed.absolute + allowed.relative * std::fabs(want);
}

std::string shapeOf(const std::vector<uint64_t>& shape) {
  std::string text;
  for (uint64_t dim : shape) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "(" + text + ")";
}

/// What an output is compared with, and where it comes from.
struct Reference {
  NpyArray array;
  std::string from;
};

Result<Reference> referenceOf(const std::vector<OutputArray>& outputs, const OutputArray& output,
                              const std::string& directory) {
  const std::string file = directory + "/" + outputFileName(output.name);
  std::error_code ignored;
  if (!output.lengthOf || std::filesystem::exists(file, ignored)) {
    SVOD_TRY(NpyArray array, readNpy(file, output.dtype));
    return Reference{std::move(array), "'" + file + "'"};
  }
  const OutputArray& whole = outputs[*output.lengthOf];
  const std::string wholeFile = directory + "/" + outputFileName(whole.name);
  SVOD_TRY(const NpyArray array, readNpy(wholeFile, whole.dtype));
  Reference length{{ElementType::I64, {array.shape.size()}, {}, {}, {}}, "the shape of '" + wholeFile + "'"};
  const auto bytes = std::as_bytes(std::span(array.shape));
  length.array.owned.assign(bytes.begin(), bytes.end());
  length.array.data = length.array.owned;
  return length;
}

Status sameType(const OutputArray& output, const Reference& reference) {
  const NpyArray& want = reference.array;
  if (want.dtype == output.dtype && want.shape == output.shape) return {};
  return fail(Diag::Mismatch,
              "output '" + output.name + "' is " + std::string(nameOf(output.dtype)) + " " + shapeOf(output.shape) +
                  ", the reference " + reference.from + " is " + std::string(nameOf(want.dtype)) + " " +
                  shapeOf(want.shape),
              "make the references with the same inputs and sizes");
}

void compareElements(const OutputArray& output, const Reference& reference, const Tolerance& allowed, Agreement& row) {
  const NpyArray& want = reference.array;
  row.elements = elementCount(output);
  size_t first = 0;
  for (size_t i = 0; i < row.elements; i++) {
    const long double got = elementValue(output.dtype, output.data.data(), i);
    const long double expected = elementValue(want.dtype, want.data.data(), i);
    if (!agree(got, expected, allowed) && row.differing++ == 0) first = i;
    if (got == expected || !std::isfinite(got) || !std::isfinite(expected)) continue;
    const long double error = std::fabs(got - expected);
    row.absolute = std::max(row.absolute, error);
    if (expected != 0) row.relative = std::max(row.relative, error / std::fabs(expected));
  }
  if (row.differing == 0) return;
  row.status =
      fail(Diag::Mismatch,
           "output '" + output.name + "' differs from " + reference.from + " at " + indexText(first, output.shape) +
               ": got " + elementText(output.dtype, output.data.data(), first) + ", reference " +
               elementText(want.dtype, want.data.data(), first) + "; " + std::to_string(row.differing) + " of " +
               std::to_string(row.elements) + " elements differ",
           isFloat(output.dtype) ? "--rtol and --atol set the allowed error"
                                 : "check that the references were made from the same inputs");
}

Agreement compared(const std::vector<OutputArray>& outputs, const OutputArray& output, const std::string& directory,
                   const Tolerance& allowed) {
  Agreement row{output.name};
  const Result<Reference> reference = referenceOf(outputs, output, directory);
  row.status = reference ? sameType(output, *reference) : fail(reference.error());
  if (row.status) compareElements(output, *reference, allowed, row);
  return row;
}

std::string errorText(long double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3Lg", error);
  return text;
}

}  // namespace

Tolerance defaultTolerance(ElementType type) {
  switch (type) {
    case ElementType::F64: return {1e-9L, 1e-11L};
    case ElementType::F32: return {1e-4L, 1e-5L};
    case ElementType::F16: return {5e-3L, 5e-4L};
    case ElementType::BF16: return {3e-2L, 3e-3L};
    default: return isFloat(type) ? Tolerance{2e-1L, 2e-2L} : Tolerance{};
  }
}

std::vector<Agreement> compareWithReferences(const std::vector<OutputArray>& outputs, const std::string& directory,
                                             std::optional<double> rtol, std::optional<double> atol) {
  std::vector<Agreement> rows;
  for (const OutputArray& output : outputs) {
    Tolerance allowed = defaultTolerance(output.dtype);
    if (isFloat(output.dtype)) {
      if (rtol) allowed.relative = *rtol;
      if (atol) allowed.absolute = *atol;
    }
    rows.push_back(compared(outputs, output, directory, allowed));
  }
  return rows;
}

Status statusOf(const std::vector<Agreement>& rows) {
  for (const Agreement& row : rows) SVOD_CHECK(row.status);
  return {};
}

std::string agreementText(const std::vector<Agreement>& rows) {
  size_t width = 6;
  bool differ = false;
  for (const Agreement& row : rows) {
    width = std::max(width, printable(row.output).size());
    differ |= row.differing > 0;
  }
  auto line = [&](const std::string& name, std::vector<std::string> cells, const std::string& differing) {
    if (differ) cells.push_back(differing);
    return tableLine(name, width, cells);
  };
  std::string text = line("output", {"elements", "abs error", "rel error"}, "differ");
  for (const Agreement& row : rows) {
    const bool compared = row.status || row.differing > 0;
    text += compared
                ? line(row.output, {std::to_string(row.elements), errorText(row.absolute), errorText(row.relative)},
                       std::to_string(row.differing))
                : line(row.output, {"-", "-", "-"}, "-");
  }
  return text;
}

nlohmann::ordered_json agreementJson(const Agreement& row) {
  return {{"agrees", row.status.has_value()},
          {"elements", row.elements},
          {"absoluteError", static_cast<double>(row.absolute)},
          {"relativeError", static_cast<double>(row.relative)},
          {"differing", row.differing}};
}

}  // namespace svod
