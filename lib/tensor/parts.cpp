#include "tensor/parts.h"

#include <algorithm>

#include "tensor/parameters.h"

namespace svod {

double timeOf(const GpuReduction& r, int64_t parts, const GraphGpu& gpu) {
  const auto count = static_cast<double>(parts);
  const double share = std::min(1.0, count * r.results * r.threads / gpu.threads);
  return r.bytes / gpu.bytes / share +
         (parts > 1 ? parameters::kGpuKernel + count * r.results * parameters::kPartBytes / gpu.bytes : 0);
}

int64_t partsFor(const GpuReduction& r, int64_t extent, const GraphGpu& gpu) {
  int64_t parts = 1;
  while (static_cast<double>(parts) * r.results * r.threads < gpu.threads &&
         extent / (2 * parts) >= parameters::kTermsOfGpuPart && parts < parameters::kMostGpuParts)
    parts *= 2;
  return timeOf(r, 1, gpu) >= parameters::kWorthParts * timeOf(r, parts, gpu) ? parts : 1;
}

UOp inParts(Graph& g, UOp x, int32_t axis, int64_t parts) {
  std::vector<UOp> dims(x.shape().begin(), x.shape().end());
  dims[static_cast<size_t>(axis)] = g.index(parts);
  dims.insert(dims.begin() + axis + 1, g.index(x.dim(static_cast<size_t>(axis)) / parts));
  return g.reshape(x, dims);
}

Monoid monoidOf(Graph& g, Op op) {
  return {[&g, op](UOp terms, std::span<const int32_t> axes) { return Monoid::Values{g.reduce(op, terms, axes)}; },
          [&g, op](const Monoid::Values& parts, int32_t axis) {
            return Monoid::Values{g.reduce(op, parts[0], {&axis, 1})};
          }};
}

Monoid::Values reducedInParts(Graph& g, const Monoid& monoid, UOp terms, std::span<const int32_t> axes,
                              int32_t partAxis) {
  Monoid::Values parts = monoid.fold(terms, axes);
  for (UOp& part : parts) part = stored(g, part);
  return monoid.merge(parts, partAxis);
}

bool roundsParts(UOp reduce) {
  const Op op = reduce.argAs<ReduceArg>().op;
  return isFloat(reduce.dtype()) && byteSize(reduce.dtype()) < 4 && op != Op::Max && op != Op::Min;
}

int64_t decideParts(NodeDecisions& decisions, const char* kind, UOp reduce, int64_t extent, int64_t parts,
                    const char* reason, const CostOfParts& costOf) {
  using parameters::kMostParts;
  parts = std::max<int64_t>(1, parts);
  std::vector<int64_t> counts{1};
  for (int64_t count = 2; count <= std::min(kMostParts, extent / 2) && extent % count == 0; count *= 2)
    counts.push_back(count);
  if (std::ranges::find(counts, parts) == counts.end()) counts.push_back(parts);
  if (counts.size() == 1) return 1;
  std::vector<Alternative> alternatives;
  for (int64_t count : counts) alternatives.push_back({std::to_string(count), costOf ? costOf(count) : std::nullopt});
  const auto usual = static_cast<size_t>(std::ranges::find(counts, parts) - counts.begin());
  return counts[decisions.decide(kind, reduce, std::move(alternatives), usual, parts > 1 ? reason : "one is enough")];
}

UOp stored(Graph& g, UOp value) {
  return value.op() == Op::Contiguous ? value : g.make(Op::Contiguous, value.dtype(), {value});
}

}  // namespace svod
