// Comparison of outputs with reference arrays.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "session.h"

namespace svod {

struct Tolerance {
  long double relative = 0, absolute = 0;
};
/// What --rtol and --atol are without: exact for integers, some rounding errors for floats.
Tolerance defaultTolerance(ElementType type);

/// How far an output is from its reference.
struct Agreement {
  std::string output;
  size_t elements = 0;                     // compared; 0 when the reference is missing or of another shape, too
  long double absolute = 0, relative = 0;  // the greatest errors; relative ones where the reference is not 0
  size_t differing = 0;                    // elements beyond what is allowed
  Status status = {};                      // Diag::Mismatch shows the first of them
};

/// Compares every output with `directory`/NAME.npy. |got - want| may be up to atol + rtol * |want|; NaN equals NaN.
/// A length without a file is compared with the shape of the reference that it is the length of. One row per output.
std::vector<Agreement> compareWithReferences(const std::vector<OutputArray>& outputs, const std::string& directory,
                                             std::optional<double> rtol, std::optional<double> atol);

/// The first error of the rows.
Status statusOf(const std::vector<Agreement>& rows);

/// output, elements, abs error, rel error; the number of elements that differ where some do.
std::string agreementText(const std::vector<Agreement>& rows);
nlohmann::ordered_json agreementJson(const Agreement& row);

}  // namespace svod
