#include "measure/priced_measure.h"

#include "data/sha256.h"
#include "driver/plan_price.h"
#include "ir/text.h"
#include "measure/compile_candidates.h"

namespace svod {

PricedMeasure::PricedMeasure(const CompiledKernel& kernel, const CompileOptions& options, Clock::time_point deadline,
                             size_t mostInstructions)
    : kernel_(kernel), options_(candidateOptions(options)), deadline_(deadline) {
  options_.mostInstructions = mostInstructions;
}

Status PricedMeasure::begin(const Candidate& baseline) {
  const Prepared made = priced(baseline);
  if (made.verdict.outcome != Outcome::Timed) return fail(Diag::Unsupported, made.verdict.reason, "");
  baseline_ = prices_.at(baseline.text);
  if (baseline_ > 0) return {};
  return fail(Diag::Unsupported, "the cost model says nothing of this kernel", "");
}

std::vector<Prepared> PricedMeasure::prepare(std::span<const Candidate> candidates) {
  std::vector<Prepared> all;
  for (const Candidate& candidate : candidates) all.push_back(priced(candidate));
  return all;
}

TrialResult PricedMeasure::time(const Candidate& candidate, double) {
  return {Outcome::Timed, "", prices_.at(candidate.text)};
}

TrialResult PricedMeasure::compare(const Candidate& candidate) {
  const double price = prices_.at(candidate.text), ratio = price / baseline_;
  return {ratio < kClearlyLess ? Outcome::Wins : Outcome::Loses, "", price, 0, ratio};
}

/// Kernels that are the same once their opts are applied come to the same code.
Prepared PricedMeasure::priced(const Candidate& candidate) {
  CompiledKernel copy = copyOf(kernel_, kernel_.name);
  if (const Status lowered = lowerWith(copy, candidate.opts, options_); !lowered) {
    const bool isLarge = lowered.error()->diag == Diag::TooLarge;
    return {"", {isLarge ? Outcome::TooLarge : Outcome::CompileFailed, lowered.error()->message}};
  }
  prices_[candidate.text] = predictedTime(copy, options_);
  return {sha256Hex(toUopText(copy.optimized)), {}};
}

}  // namespace svod
