#include "reference.h"

#include <cmath>

#include "data/element_value.h"
#include "summary.h"

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

}  // namespace

Tolerance defaultTolerance(ElementType type) {
  switch (type) {
    case ElementType::F64:
      return {1e-9L, 1e-11L};
    case ElementType::F32:
      return {1e-4L, 1e-5L};
    case ElementType::F16:
      return {5e-3L, 5e-4L};
    case ElementType::BF16:
      return {3e-2L, 3e-3L};
    default:
      return isFloat(type) ? Tolerance{2e-1L, 2e-2L} : Tolerance{};
  }
}

Status compareWithReference(const OutputArray& output, const std::string& directory,
                            std::optional<double> rtol, std::optional<double> atol) {
  const std::string file = directory + "/" + outputFileName(output.name);
  SVOD_TRY(NpyArray want, readNpy(file, output.dtype));
  const std::string who = "output '" + output.name + "'";
  if (want.dtype != output.dtype || want.shape != output.shape)
    return fail(Diag::Mismatch, who + " is " + std::string(nameOf(output.dtype)) + " " +
                                    shapeOf(output.shape) + ", the reference '" + file + "' is " +
                                    std::string(nameOf(want.dtype)) + " " + shapeOf(want.shape));
  Tolerance allowed = defaultTolerance(output.dtype);
  if (isFloat(output.dtype)) {
    if (rtol) allowed.relative = *rtol;
    if (atol) allowed.absolute = *atol;
  }
  const size_t count = elementCount(output);
  size_t differing = 0, first = 0;
  for (size_t i = 0; i < count; i++) {
    if (agree(elementValue(output.dtype, output.data.data(), i), elementValue(want.dtype, want.data.data(), i),
              allowed))
      continue;
    if (differing++ == 0) first = i;
  }
  if (differing == 0) return {};
  return fail(Diag::Mismatch,
              who + " differs from '" + file + "' at " + indexText(first, output.shape) + ": got " +
                  elementText(output.dtype, output.data.data(), first) + ", reference " +
                  elementText(want.dtype, want.data.data(), first) + "; " + std::to_string(differing) +
                  " of " + std::to_string(count) + " elements differ",
              isFloat(output.dtype) ? "--rtol and --atol set the allowed error" : "");
}

}  // namespace svod
