// The kernels of a plan as functions of a program that links the runtime: svod_plan_load_static takes the table of
// them.
#pragma once
#include <string>
#include <vector>

#include "embed/c_file.h"

namespace svod {

/// One file of C11 that shows `PREFIX_functions`, a svod_function_table. `record` is the codeRecord of the plan.
std::string functionTableText(const Plan& plan, const std::string& prefix, const EmbedParts& parts,
                              std::string_view record);

}  // namespace svod
