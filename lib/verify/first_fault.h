// Fault localization: the first pass that changes a value, by the interpreter alone.
#pragma once
#include <string>
#include <string_view>

#include "driver/compile.h"

namespace svod {

struct Fault {
  std::string pass;   // empty: none of them changes a value, and what is left is the code of the target, and the plan
  std::string where;  // " to kernel NAME", or empty where it is the graph
  std::string what;   // the element, and its values
};

/// The values before and after each pass that `options` have run, from pass `first` on or, where that is empty, all,
/// over the graph and then over every kernel, in the interpreter and on the same inputs. Errors: where it gives no
/// answer.
Result<Fault> firstFault(Model& model, const CompileOptions& options, std::string_view first);

}  // namespace svod
