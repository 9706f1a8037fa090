// Outputs against arrays that are known to be right.
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

/// An output that agrees with its reference, and how far it is from it.
struct Agreement {
  std::string output;
  size_t elements = 0;
  long double absolute = 0, relative = 0;  // the greatest errors; relative ones where the reference is not 0
};

/// Compares every output with `directory`/NAME.npy. |got - want| may be up to atol + rtol * |want|; NaN equals NaN.
/// A length without a file is compared with the shape of the reference that it is the length of. The error,
/// Diag::Mismatch, shows the first element that differs.
Result<std::vector<Agreement>> compareWithReferences(const std::vector<OutputArray>& outputs,
                                                     const std::string& directory, std::optional<double> rtol,
                                                     std::optional<double> atol);

/// output, elements, abs error, rel error.
std::string agreementText(const std::vector<Agreement>& rows);
nlohmann::ordered_json agreementJson(const Agreement& row);

}  // namespace svod
