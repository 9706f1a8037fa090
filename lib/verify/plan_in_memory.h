// A plan that was just compiled, as the runtime reads it, without files.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "svod/runtime.h"

namespace svod {

using PlanHandle = std::unique_ptr<svod_plan, decltype(&svod_plan_free)>;
using InstanceHandle = std::unique_ptr<svod_instance, decltype(&svod_instance_free)>;

/// What the runtime says, behind "`doing`: ".
Error toError(const svod_error& error, const std::string& doing);

/// Must outlive the plans that are loaded from it: weights are not copied.
struct PlanInMemory {
  std::string json;
  std::vector<std::vector<std::byte>> memory;
  std::vector<svod_file> files;

  explicit PlanInMemory(const Compilation& c);
  /// With the code for `cpu`, of a plan for several; null takes the best for this machine. Errors: what the runtime
  /// says, behind "`doing`: ".
  Result<PlanHandle> load(const std::string& doing, const char* cpu = nullptr) const;
};

}  // namespace svod
