// Measurement replaced by the cost model: candidates are lowered, and nothing runs. For machines that do not have the
// device.
#pragma once
#include <chrono>
#include <map>
#include <string>

#include "driver/compile.h"
#include "search/measure.h"

namespace svod {

/// Of one kernel, which was compiled with `options`, until `deadline`. Both must outlive it. A list is as fast as the
/// cost model expects of the kernel that it comes to, and wins where that is clearly less than with those of -O1.
class PricedMeasure : public Measure {
 public:
  using Clock = std::chrono::steady_clock;

  PricedMeasure(const CompiledKernel& kernel, const CompileOptions& options, Clock::time_point deadline,
                size_t mostInstructions);

  /// Errors: Unsupported, where the cost model says nothing of the kernel with these.
  Status begin(const Candidate& baseline);

  std::vector<Prepared> prepare(std::span<const Candidate> candidates) override;
  TrialResult time(const Candidate& candidate, double stopAbove) override;
  TrialResult compare(const Candidate& candidate) override;
  bool isOver() override { return Clock::now() >= deadline_; }

 private:
  Prepared priced(const Candidate& candidate);

  const CompiledKernel& kernel_;
  CompileOptions options_;
  Clock::time_point deadline_;
  std::map<std::string, double> prices_;  // nanoseconds, by the text of the list
  double baseline_ = 0;
};

/// What is expected to take more of the time is not clearly faster.
inline constexpr double kClearlyLess = 0.98;

}  // namespace svod
