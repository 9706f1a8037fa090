#include "measure/cpu_measure.h"

#include <algorithm>

#include "driver/describe_kernel.h"
#include "ir/evaluate.h"
#include "measure/interpreted.h"
#include "measure/test_data.h"

namespace svod {

namespace {

constexpr uint64_t kMostDataBytes = uint64_t{1} << 30;      // of all parameters
constexpr uint64_t kMostGreatestBytes = uint64_t{1} << 26;  // of one, where it is larger than runs need
constexpr RunLimits kLimits, kBaselineLimits{60, kLimits.moreBytes};

/// A tenth of the time that is left is enough to wait for what others are compared with.
RunLimits referenceLimits(CpuMeasure::Clock::time_point deadline) {
  const double left = std::chrono::duration<double>(deadline - CpuMeasure::Clock::now()).count();
  return {std::clamp(left / 10, 1.0, 60.0), kLimits.moreBytes};
}

/// What the comparisons at the end of a search may take: five lists, each in so many pairs with the opts of -O1.
std::chrono::duration<double> timeToCompare(double baselineNs) {
  constexpr double kLists = 5, kPairs = 20, kLeastNs = 2e5;
  return std::chrono::duration<double>(2 * kLists * kPairs * std::max(baselineNs, kLeastNs) * 1e-9);
}

/// What a parameter has where variables are at their measured values.
int64_t measuredSize(UOp param, int variablesAt) {
  const std::optional<Scalar> size = evaluate(param.src(0), [&](UOp leaf) -> std::optional<Scalar> {
    if (leaf.op() != Op::Var) return std::nullopt;
    return Scalar::ofInt(leaf.dtype(), measuredValue(leaf.argAs<VarArg>(), variablesAt));
  });
  return size ? size->asInt() : param.src(0).bounds().max;
}

/// Data for every parameter, dense: of the greatest size where that is small, else of the measured one.
Result<KernelData> dataFor(const CompiledKernel& kernel, int variablesAt) {
  KernelData data;
  uint64_t bytes = 0;
  for (UOp n : toposort(kernel.ast)) {
    if (n.op() != Op::Param) continue;
    const auto slot = static_cast<size_t>(n.argAs<SlotArg>().slot);
    data.operands.resize(std::max(data.operands.size(), slot + 1));
    data.types.resize(data.operands.size(), ElementType::U8);
    data.types[slot] = storedType(n.dtype());
    const auto most = static_cast<uint64_t>(n.src(0).bounds().max) * byteSize(data.types[slot]);
    const auto measured = static_cast<uint64_t>(measuredSize(n, variablesAt)) * byteSize(data.types[slot]);
    const uint64_t size = most <= kMostGreatestBytes ? most : measured;
    bytes += size;
    if (size > kMostDataBytes || bytes > kMostDataBytes)
      return fail(Diag::Unsupported, "its arguments take more than 1 GiB", "give variables smaller likely values");
    data.operands[slot].resize(size);
    fillWithData(data.operands[slot], data.types[slot], slot);
  }
  return data;
}

}  // namespace

CpuMeasure::CpuMeasure(const CompiledKernel& kernel, const CompileOptions& options, std::string folder,
                       Clock::time_point deadline, const MeasureOptions& how)
    : kernel_(kernel), options_(candidateOptions(options)), folder_(std::move(folder)), deadline_(deadline),
      searchEnd_(deadline), how_(how) {}

Status CpuMeasure::begin(const Candidate& baseline) {
  SVOD_TRY(data_, dataFor(kernel_, how_.compile.variablesAt));
  const std::vector<OptOp> lists[] = {{}, baseline.opts};
  std::vector<CompiledCandidate> both =
      compileCandidates(kernel_, lists, options_, {60, CompileLimits().moreBytes, SIZE_MAX, how_.compile.variablesAt},
                        {}, folder_ + "/baseline-");
  for (const CompiledCandidate& each : both) SVOD_CHECK(wasTried(each.verdict));
  if (both[1].verdict.outcome != Outcome::Timed)
    return fail(Diag::Unsupported, "its opts of -O1 do not compile again: " + both[1].verdict.reason);
  const CandidateCode baselineCode = std::move(both[1].code);
  // Without opts it may take too long to wait for: then those of -O1 are what others are compared with.
  TrialResult reference = both[0].verdict;
  if (reference.outcome == Outcome::Timed) reference = runReference(both[0].code, data_, referenceLimits(deadline_));
  if (reference.outcome != Outcome::Timed) reference = runReference(baselineCode, data_, kBaselineLimits);
  if (reference.outcome == Outcome::Timed) preferInterpreted(kernel_, data_, how_.compile.variablesAt);
  if (reference.outcome == Outcome::Timed)
    reference = runner_.emplace(data_, kLimits, how_.run).setBaseline(baselineCode);
  SVOD_CHECK(wasTried(reference));
  if (reference.outcome != Outcome::Timed)
    return fail(Diag::Unsupported, "it cannot be run alone: " + reference.reason);
  const std::chrono::duration<double> left = deadline_ - Clock::now();
  searchEnd_ = deadline_ - std::chrono::duration_cast<Clock::duration>(
                               std::min(timeToCompare(reference.nanoseconds), std::max(left, left.zero()) / 4));
  return {};
}

std::vector<Prepared> CpuMeasure::prepare(std::span<const Candidate> candidates) {
  std::vector<std::vector<OptOp>> lists;
  for (const Candidate& c : candidates)
    if (!ready_.contains(c.text)) lists.push_back(c.opts);
  std::vector<CompiledCandidate> compiled;
  if (!lists.empty())
    compiled = compileCandidates(kernel_, lists, options_, how_.compile, byHash_,
                                 folder_ + "/" + std::to_string(batches_++) + "-");
  std::vector<Prepared> prepared;
  size_t next = 0;
  for (const Candidate& c : candidates) {
    const auto found = ready_.find(c.text);
    const CompiledCandidate& made = found != ready_.end() ? found->second : compiled[next++];
    prepared.push_back({made.code.hash, made.verdict});
    if (made.verdict.outcome != Outcome::Timed) continue;
    byHash_.emplace(made.code.hash, made.code);
    code_[c.text] = made.code;
  }
  return prepared;
}

TrialResult CpuMeasure::time(const Candidate& candidate, double stopAbove) {
  const auto code = code_.find(candidate.text);
  if (code == code_.end()) return {Outcome::CompileFailed, "it was not compiled"};
  return runner_->time(code->second, stopAbove);
}

TrialResult CpuMeasure::compare(const Candidate& candidate) {
  const auto code = code_.find(candidate.text);
  if (code == code_.end()) return {Outcome::CompileFailed, "it was not compiled"};
  return runner_->compare(code->second);
}

}  // namespace svod
