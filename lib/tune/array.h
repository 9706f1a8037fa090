// Job arrays of cluster schedulers: which part of one this process is.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace svod {

/// A program that starts one command many times, and the variable that tells them apart.
struct ArrayEngine {
  std::string_view engine, variable;
  int64_t first;          // the number of its first part
  std::string_view none;  // what the variable holds outside of an array; empty: it is not set there
};
std::span<const ArrayEngine> allArrayEngines();

/// From 0 on. `environment`: "NAME=value". Errors: Usage, where no engine or several say so.
Result<int64_t> arrayNumber(const std::vector<std::string>& environment);

/// Of "7", or of "auto" by the environment. Errors: Usage.
Result<int64_t> unitNumber(const std::string& text, const std::vector<std::string>& environment);

}  // namespace svod
