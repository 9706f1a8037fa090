// The states of an instance as a .safetensors file: one tensor per state, and the name of the plan as the bytes of
// 'svod.plan'.
#pragma once
#include <string>

#include "support/result.h"
#include "svod/runtime.h"

namespace svod {

/// The file appears whole or not at all.
Status saveStates(const std::string& path, const svod_plan* plan, svod_instance* instance);
/// All states of the file, or none. Errors: InputMismatch when it was saved by a plan of another name, or names, dtypes
/// or shapes differ.
Status loadStates(const std::string& path, const svod_plan* plan, svod_instance* instance);

}  // namespace svod
