// Graphs with data whose plans show on a device whether its instructions, its driver and its copies do what the
// emulated grid takes them to do.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "pass/pass.h"

namespace svod {

struct GpuCase {
  std::string group, name;
  Model model;
  ModelBindings bindings;
  int optLevel = 1;
  Numerics numerics = Numerics::Contract;
  std::string opts = {};   // for every kernel, in place of the chosen ones
  double factorError = 0;  // of products of matrix units that drop digits: by the sum of the products' magnitudes
};

struct GpuCaseMaker {
  std::string name;
  std::function<Result<GpuCase>()> make;
};

/// `group` is `units`, one product for each matrix unit of the architecture; `ops`, every op of graph files at both
/// levels; `products` or `random`, the first `count` of them. Errors: Usage for another group.
Result<std::vector<GpuCaseMaker>> gpuCases(const std::string& group, uint64_t count, const std::string& arch);

}  // namespace svod
