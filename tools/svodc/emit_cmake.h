// --emit cmake: a file that a CMake project includes, and has what was emitted beside it as a target.
#pragma once
#include "emit.h"

namespace svod {

/// Errors: Usage where `emissions` have a file for CMake, but not one library, or a plan, that it would be of.
Status checkForCmake(std::span<const Emission> emissions);

/// The text of the file `path`, for a target with this name. It finds the others from where it lies itself, so all of
/// them may be moved together.
std::string cmakeText(const std::string& target, std::string_view path, std::span<const Emission> emissions);

}  // namespace svod
