#include "tensor/split_reduce.h"

#include <algorithm>
#include <set>

#include "ir/gpu_op.h"
#include "ir/likely.h"
#include "support/integers.h"
#include "tensor/nodes.h"
#include "tensor/parts.h"
#include "tensor/softmax.h"
#include "tensor/uses.h"
#include "tensor/work.h"

namespace svod {

namespace {

using namespace parameters;

// Parts keep the order of the terms, so that a maximum of floats, which knows no rounding, may be one of parts even
// where its terms must not change places (mayReassociate, facts/caps.h).
bool mayRegroup(UOp reduce, Numerics numerics) {
  Op op = reduce.argAs<ReduceArg>().op;
  return numerics != Numerics::Strict || !isFloat(reduce.dtype()) || op == Op::Max || op == Op::Min;
}

// A product of matrices that are read again often, but with few results for so many terms: a part of the terms stays in
// cache for all results, and there are tiles for many threads.
bool isDeepProduct(UOp reduce) {
  const auto& arg = reduce.argAs<ReduceArg>();
  UOp terms = reduce.src(0);
  if (roundsParts(reduce) || arg.op != Op::Add || arg.axes.size() != 1 || terms.op() != Op::Mul ||
      likelyNumel(reduce) > kMaxProducts)
    return false;
  const int64_t largest =  // of the factors before they were repeated for each other
      std::max(likelyNumel(belowArrangement(terms.src(0))), likelyNumel(belowArrangement(terms.src(1))));
  return likelyNumel(terms) >= kMinReuse * largest && !hasSoftmaxFactor(terms);
}

// Worth a second kernel.
bool hasFewResults(UOp reduce) {
  const int64_t out = likelyNumel(reduce);
  return out <= kMaxResult && likelyNumel(reduce.src(0)) / out >= kMinRatio;
}

// Of the thread that has most to do, where threads have nothing but parts to share. What parts of a product gain is
// that they stay in cache, which nothing knows before there are loops.
std::optional<double> costOf(UOp reduce, int64_t parts) {
  if (!hasFewResults(reduce)) return std::nullopt;
  constexpr double kTermCost = kLoadCost + kOpCost;
  const auto in = static_cast<double>(likelyNumel(reduce.src(0))), out = static_cast<double>(likelyNumel(reduce));
  const auto count = static_cast<double>(parts);
  return in / count * kTermCost + (parts > 1 ? count * out * kTermCost + kLaunch : 0);
}

/// What a sum reads most of.
struct Swept {
  UOp value;
  bool isAlong = false;  // neighbours in memory are terms of one result
};

constexpr size_t kMostSteps = 10000;
Swept sweptBy(UOp reduce) {
  TokenTable tokens;
  Use use{0, {}};
  for (size_t i = 0; i < reduce.rank(); ++i) use.index.push_back(tokens.rootAxis(0, static_cast<int>(i)));
  Swept most;
  std::vector<std::pair<UOp, Use>> open{{reduce, use}};
  std::set<std::pair<uint32_t, std::vector<TokenId>>> seen;
  while (!open.empty()) {
    const auto [n, read] = open.back();
    open.pop_back();
    if (!seen.emplace(n.id(), read.index).second) continue;
    if (seen.size() > kMostSteps) return {};  // nothing is known of a value that is read in so many ways
    if (n == reduce || isMovement(n.op()) || (isElementwise(n.op()) && n.rank() > 0)) {
      passToOperands(n, read, tokens, [&](UOp operand, Use next) { open.emplace_back(operand, std::move(next)); });
    } else if (n.rank() > 0 && (!most.value || likelyNumel(n) > likelyNumel(most.value))) {
      most.value = n;
      size_t inner = n.rank() - 1;
      while (inner > 0 && n.shape()[inner].isConst(1)) --inner;
      most.isAlong = tokens[read.index[inner]].reduced;
    }
  }
  return most;
}

GpuReduction onGpu(UOp reduce, const Swept& swept, const GraphGpu& gpu) {
  const auto results = static_cast<double>(likelyNumel(reduce));
  const double terms = static_cast<double>(likelyNumel(reduce.src(0))) / results;
  return {static_cast<double>(memoryBytes(swept.value.dtype(), likelyNumel(swept.value))), results,
          std::clamp(terms / kThreadTerms, 1.0, swept.isAlong ? gpu.rowThreads : gpu.columnThreads)};
}

/// A sum that reads everything about once: products of matrices have tiles.
bool sweepsOnce(UOp reduce, const Swept& swept) {
  return swept.value && likelyNumel(reduce.src(0)) < kMostReuse * likelyNumel(swept.value);
}

// Into how many parts a reduce over `extent` terms goes; 0 for one.
int64_t partsOf(UOp reduce, int64_t extent) {
  if (hasFewResults(reduce)) return divisorWithin(extent, kMinParts, kMaxParts);
  if (!isDeepProduct(reduce)) return 0;
  return divisorWithin(extent, kMinPartsOfProduct, std::min(kMaxPartsOfProduct, extent / kMinTermsOfPart));
}

enum class Parts : uint8_t { Runs, Interleaved };  // of a part: neighbours, or every n-th term

// The parts become the first axis, of the terms and of what is stored.
UOp split(Graph& g, UOp reduce, int32_t axis, int64_t parts, Parts form = Parts::Runs) {
  const auto& arg = reduce.argAs<ReduceArg>();
  const int64_t extent = reduce.src(0).dim(static_cast<size_t>(axis));
  const bool isRun = form == Parts::Runs;
  const UOp terms = inParts(g, reduce.src(0), axis, isRun ? parts : extent / parts);
  const int32_t partAxis = isRun ? axis : axis + 1;
  std::vector<int32_t> order{partAxis}, axes;
  for (int32_t i = 0; i < static_cast<int32_t>(terms.rank()); ++i)
    if (i != partAxis) order.push_back(i);
  for (int32_t a : arg.axes) axes.push_back(a + 1);
  return reducedInParts(g, monoidOf(g, arg.op), g.permute(terms, order), axes, 0)[0];
}

UOp termsWithin(Graph& g, UOp terms, int32_t axis, int64_t begin, int64_t end) {
  std::vector<UOp> offsets(terms.rank(), g.index(0)), sizes(terms.shape().begin(), terms.shape().end());
  offsets[static_cast<size_t>(axis)] = g.index(begin), sizes[static_cast<size_t>(axis)] = g.index(end - begin);
  return g.shrink(terms, offsets, sizes);
}

// The last terms, which fill no part of their own, are folded where the parts are.
UOp splitUnevenly(Graph& g, UOp reduce, int32_t axis, int64_t parts, Parts form) {
  const auto& arg = reduce.argAs<ReduceArg>();
  const UOp terms = reduce.src(0);
  const int64_t extent = terms.dim(static_cast<size_t>(axis)), whole = extent / parts * parts;
  if (whole == extent) return split(g, reduce, axis, parts, form);
  const UOp first = split(g, g.reduce(arg.op, termsWithin(g, terms, axis, 0, whole), arg.axes), axis, parts, form);
  return g.alu(arg.op, {first, g.reduce(arg.op, termsWithin(g, terms, axis, whole, extent), arg.axes)});
}

/// Whether parts of `run` neighbours begin and end with lines of the value they are read from, or lie within them: else
/// their addresses are quotients and remainders.
bool isWhole(int64_t run, int64_t extent, UOp swept) {
  const std::vector<UOp> dims(swept.shape().begin(), swept.shape().end());
  if (std::ranges::any_of(dims, [&](UOp dim) { return dim.isConst(extent); })) return true;
  int64_t line = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    line *= std::max<int64_t>(1, dims[i].bounds().max);
    if (run % line != 0 && line % run != 0) return false;
  }
  return true;
}

/// Whether whole accesses fill runs of a part where they fill those of all terms.
bool isAligned(int64_t run, int64_t extent) {
  constexpr int64_t kLanes = kAccessBytes / 2;  // of the narrowest floats
  return run % kLanes == 0 || extent % kLanes != 0;
}

/// The number of parts near `wanted`; 1 for none. Uneven ones leave terms over, which have to be few.
int64_t cutOf(UOp reduce, int64_t extent, int64_t wanted, const Swept& swept) {
  const auto fits = [&](int64_t n) {
    const int64_t run = extent / n;
    return extent % n == 0 && (!swept.isAlong || (isAligned(run, extent) && isWhole(run, extent, swept.value)));
  };
  for (int64_t n = wanted; n <= std::min(kMoreParts * wanted, extent / 2); ++n)
    if (fits(n)) return n;
  const int64_t others = likelyNumel(reduce.src(0)) / std::max<int64_t>(1, likelyNumel(reduce) * extent);
  if (extent % wanted * others <= kMostLeftOver && isWhole(extent / wanted, extent, swept.value)) return wanted;
  if (others > 1 && extent <= kMostLeftOver * kMoreParts) return extent;
  for (int64_t n = wanted; n > 1; --n)
    if (fits(n)) return n;
  return 1;
}

// For the threads of a GPU, along the longest axis.
std::optional<UOp> splitForGpu(Graph& g, UOp reduce, UOp named, const GraphMachine& machine, NodeDecisions& decide) {
  const auto extent = [&](int32_t axis) { return reduce.src(0).dim(static_cast<size_t>(axis)); };
  const int32_t axis = std::ranges::max(reduce.argAs<ReduceArg>().axes, {}, extent);
  const Swept swept = sweptBy(reduce);
  if (roundsParts(reduce) || !sweepsOnce(reduce, swept)) return std::nullopt;
  const GpuReduction gpu = onGpu(reduce, swept, machine.gpu);
  const int64_t wanted = partsFor(gpu, extent(axis), machine.gpu);
  const int64_t usual = wanted > 1 ? cutOf(reduce, extent(axis), wanted, swept) : 1;
  if (usual == 1) return std::nullopt;
  const int64_t parts = decideParts(decide, "parts", named, extent(axis), usual, "few results for so many threads",
                                    [&](int64_t count) { return std::optional(timeOf(gpu, count, machine.gpu)); });
  if (parts <= 1) return reduce;
  const bool isShort = memoryBytes(swept.value.dtype(), swept.value.shape().back().bounds().max) < machine.runBytes;
  return splitUnevenly(g, reduce, axis, parts, !swept.isAlong && isShort ? Parts::Interleaved : Parts::Runs);
}

// Decides about `reduce`, which `named` was before what is below it changed.
UOp splitAsDecided(Graph& g, UOp reduce, UOp named, const GraphMachine& machine, NodeDecisions& decide) {
  const auto extent = [&](int32_t axis) { return reduce.src(0).dim(static_cast<size_t>(axis)); };
  std::span<const int32_t> axes = reduce.argAs<ReduceArg>().axes;
  if (axes.empty()) return reduce;
  if (machine.gpu.threads > 0)
    if (const std::optional<UOp> done = splitForGpu(g, reduce, named, machine, decide)) return *done;
  for (int32_t axis : axes)
    if (const int64_t usual = partsOf(reduce, extent(axis)); usual > 1) {
      const int64_t parts = decideParts(decide, "parts", named, extent(axis), usual, "few results, many terms",
                                        [&](int64_t count) { return costOf(reduce, count); });
      return parts > 1 ? split(g, reduce, axis, parts) : reduce;
    }
  // A buffer would round sums of small floats.
  if (isFloat(reduce.dtype()) && byteSize(reduce.dtype()) < 4) return reduce;
  const int32_t longest = std::ranges::max(axes, {}, extent);
  const int64_t parts = decideParts(decide, "parts", named, extent(longest), 1, "");
  return parts > 1 ? split(g, reduce, longest, parts) : reduce;
}

}  // namespace

UOp splitReduces(Model& model, UOp sink, Numerics numerics, const GraphMachine& machine, Decisions& decisions) {
  Graph& g = *model.graph;
  NodeDecisions decide(model, toposort(sink), decisions);
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    if (same.op() != Op::Reduce || same.src(0).hasSymbolicShape() || !mayRegroup(same, numerics)) return same;
    return splitAsDecided(g, same, node, machine, decide);
  });
}

}  // namespace svod
