// Measurement on the processor that this runs on.
#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "driver/compile.h"
#include "measure/compile_candidates.h"
#include "measure/run_candidate.h"
#include "search/measure.h"

namespace svod {

/// What a candidate may take, and how it runs.
struct MeasureOptions {
  CompileLimits compile = {};
  RunConditions run = {};
};

/// Of one kernel, which was compiled with `options`. The process must have no thread that could hold a lock while
/// this is asked for anything. Both must outlive it. Libraries go into `folder`.
class CpuMeasure : public Measure {
 public:
  using Clock = std::chrono::steady_clock;

  CpuMeasure(const CompiledKernel& kernel, const CompileOptions& options, std::string folder,
             Clock::time_point deadline, const MeasureOptions& how = {});

  /// Compiles and runs the kernel without opts, for its values (interpreted.h), and with those of -O1. Errors:
  /// Unsupported for kernels that cannot be measured here, with the reason.
  Status begin(const Candidate& baseline);
  /// Candidates that were compiled ahead, by the text of their lists: they are not compiled again.
  void use(std::map<std::string, CompiledCandidate> ready) { ready_ = std::move(ready); }

  std::vector<Prepared> prepare(std::span<const Candidate> candidates) override;
  TrialResult time(const Candidate& candidate, double stopAbove) override;
  TrialResult compare(const Candidate& candidate) override;
  /// So early that what is fastest can be compared with -O1 before the deadline.
  bool isOver() override { return Clock::now() >= searchEnd_; }

 private:
  const CompiledKernel& kernel_;
  CompileOptions options_;
  std::string folder_;
  Clock::time_point deadline_, searchEnd_;
  MeasureOptions how_;
  KernelData data_;
  std::optional<Runner> runner_;
  std::map<std::string, CandidateCode> code_;  // by the text of the list
  KnownCode byHash_;
  std::map<std::string, CompiledCandidate> ready_;
  size_t batches_ = 0;
};

}  // namespace svod
