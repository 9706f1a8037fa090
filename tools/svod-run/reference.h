// Outputs against arrays that are known to be right.
#pragma once
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

/// Compares with `directory`/NAME.npy. |got - want| may be up to atol + rtol * |want|; NaN equals NaN. The
/// error, Diag::Mismatch, shows the first element that differs.
Status compareWithReference(const OutputArray& output, const std::string& directory,
                            std::optional<double> rtol, std::optional<double> atol);

}  // namespace svod
