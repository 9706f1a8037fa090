// What one call of a host function is given. Allocated when an instance is made, filled in before the call.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "svod/runtime.h"

namespace svod {

class PreparedCall {
 public:
  PreparedCall(const Plan& plan, const HostCall& call);
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall(PreparedCall&&) = default;

  /// `pointers` and `sizes` by argument. Errors when a shape needs more than its buffer has.
  Status prepare(std::span<const int64_t> variables, std::span<const std::string> names,
                 std::span<void* const> pointers, std::span<const uint64_t> sizes);
  int call(const svod_host_entry& entry) const { return entry.function(entry.user, &given_); }

 private:
  Status prepareArgument(size_t index, std::span<const int64_t> variables, std::span<const std::string> names,
                         uint64_t room);

  const HostCall* call_;
  std::vector<svod_host_argument> arguments_;
  std::vector<uint64_t> dims_;  // of all arguments
  std::vector<int64_t> values_;
  svod_host_call given_{};
};

}  // namespace svod
