// A plan that runs in this process on random inputs, to be timed.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "support/aligned_bytes.h"
#include "verify/plan_in_memory.h"

namespace svod {

/// Variables are at so many percent of their bounds, states their first contents, and equal models equal inputs. Memory
/// lies as that of svod-run and of the runtime does. Used by one thread. Borrows `pool`.
class RunningPlan {
 public:
  /// With `profiles` kernelTimes() knows them. Errors: Unsupported for plans that cannot run here, with the reason;
  /// what the runtime says.
  static Result<std::unique_ptr<RunningPlan>> make(const Model& model, const Compilation& compilation, svod_pool* pool,
                                                   bool profiles, int variablesAt);

  Status run();
  /// Of so many runs, as the mean. The error of the first that fails.
  Result<double> nanosecondsOf(int64_t runs);
  /// Nanoseconds on all threads together since it was last asked, by name of the kernel.
  std::map<std::string, double> kernelTimes();
  /// What the last run wrote, by Plan::outputs.
  std::vector<HostTensor> results() const;
  /// What it works in: the blocks that the runtime asked for, of which those for arenas of two huge pages and more
  /// begin at one.
  std::span<const std::span<std::byte>> working() const { return allocated_; }
  /// What lies in memory of its user: inputs, then outputs. Each begins at a line.
  std::vector<std::span<const std::byte>> bound() const;
  /// Nothing that it reads or writes is in a cache afterwards.
  void coolDown() const;

 private:
  RunningPlan(const Model& model, const Compilation& compilation) : model_(model), memory_(compilation) {}
  Status bind(const Plan& plan, int variablesAt);
  Status bindInput(size_t index, const Port& port, std::span<const int64_t> values,
                   const std::vector<std::string>& names, uint64_t number);

  static void* allocate(void* user, uint64_t bytes, uint64_t alignment, const char* purpose);
  static void release(void* user, void* data, uint64_t bytes);

  const Model& model_;
  PlanInMemory memory_;
  std::vector<std::span<std::byte>> allocated_;  // by the instance
  svod_memory allocator_{allocate, release, this, 0};
  PlanHandle plan_{nullptr, svod_plan_free};
  InstanceHandle instance_{nullptr, svod_instance_free};
  std::vector<AlignedBytes> inputs_, outputs_;
  std::vector<DType> outputTypes_;
};

}  // namespace svod
