// Error handling: calls of the C interface whose errors become values.
#pragma once
#include "support/result.h"
#include "svod/runtime.h"

namespace svod {

inline Error fromC(const svod_error& from) {
  Error error(Diag::DeviceFailure, from.message, from.help);
  for (size_t i = 0; i < allDiagnostics().size(); i++)
    if (allDiagnostics()[i].code == from.code) error->diag = static_cast<Diag>(i);
  return error;
}

/// `call` gets an error to fill.
template <class Call>
Status checked(Call call) {
  svod_error error = {};
  if (call(&error) == 0) return {};
  return fail(fromC(error));
}

}  // namespace svod
