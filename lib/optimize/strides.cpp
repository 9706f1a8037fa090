#include "optimize/strides.h"

#include <algorithm>

#include "optimize/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

std::vector<Access> accessesOf(UOp sink) {
  std::vector<Access> all;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Load && n.op() != Op::Store) continue;
    UOp storage = storageOf(n.src(0));
    if (storage.op() == Op::Param)
      all.push_back({n, n.src(0).src(1), storage.argAs<SlotArg>().slot, n.op() == Op::Store});
    else if (storage.op() == Op::Stage)
      all.push_back({n, n.src(0).src(1), std::nullopt, false});
  }
  return all;
}

UOp copiedBy(UOp stage) {
  UOp value = stage.src(0).src(1);
  while (value.op() == Op::Bitcast || (value.op() == Op::Xor && value.src(1).isConst())) value = value.src(0);
  UOp storage = value.op() == Op::Load ? storageOf(value.src(0)) : UOp();
  return storage && storage.op() == Op::Param ? storage : UOp();
}

std::optional<int64_t> strideOf(const Access& access, UOp range) {
  if (!access.address.dependsOn(range)) return 0;
  return coefficientOf(access.address, range);
}

double bytesRead(const Access& access) {
  double bytes = static_cast<double>(byteSize(access.node.dtype()));
  for (UOp r : access.node.ranges()) bytes *= static_cast<double>(maxExtent(r));
  return bytes;
}

namespace {

// Whether every comparison of the gate moves with both loops or with neither. How far it moves does not tell: over counters
// from 0 on, 0 < 2 * x + k says no more than 0 < x + k.
bool gateMovesAlike(UOp gate, UOp out, UOp tap) {
  for (UOp n : toposort(gate)) {
    if (!has(n.op(), Comparison) || !isInt(n.src(0).dtype())) continue;
    for (UOp side : n.src()) {
      const std::optional<int64_t> a = coefficientOf(side, out), b = coefficientOf(side, tap);
      if (!a || !b || (*a == 0) != (*b == 0)) return false;
    }
  }
  return true;
}

}  // namespace

bool slides(const Access& load, UOp out, UOp tap) {
  const int64_t x = strideOf(load, out).value_or(0), y = strideOf(load, tap).value_or(0);
  if (x <= 0 || y <= 0) return false;
  const bool meet = x % y == 0 ? x / y < maxExtent(tap) : y % x == 0 && y / x < maxExtent(out);
  return meet && (load.node.srcCount() < 3 || gateMovesAlike(load.node.src(2), out, tap));
}

bool sumsProducts(UOp n) {
  return n.op() == Op::Reduce && n.argAs<ReduceArg>().op == Op::Add && n.src(0).op() == Op::Mul;
}

namespace {

std::vector<UOp> upToInnermostOf(std::vector<UOp> loops, UOp node) {
  while (!loops.empty() && !node.dependsOn(loops.back())) loops.pop_back();
  return loops;
}

}  // namespace

LoopsOf::LoopsOf(UOp sink) {
  std::vector<UOp> order = toposort(sink);
  uint32_t largest = 0;
  for (UOp n : order) largest = std::max(largest, n.id());
  loops_.resize(largest + 1);
  for (size_t i = order.size(); i-- > 0;)
    for (UOp s : order[i].src())
      if (s.op() != Op::Range) enter(order[i], s);
}

void LoopsOf::enter(UOp user, UOp node) {
  std::vector<UOp> loops = loops_[user.id()];
  if (user.op() == Op::End || user.op() == Op::Reduce || user.op() == Op::Stage)
    loops.insert(loops.end(), user.src().begin() + 1, user.src().end());
  std::erase_if(loops, [](UOp r) { return r.op() != Op::Range; });
  // A store runs in all loops around it, whatever its address depends on.
  bool body = user.op() == Op::End || user.op() == Op::Stage;
  if (!body) loops = upToInnermostOf(std::move(loops), node);
  if (loops.size() > loops_[node.id()].size()) loops_[node.id()] = std::move(loops);
}

namespace {

struct Signature {
  std::vector<Access> loads, stores;
  std::vector<UOp> outputs, reduces;
  std::vector<UOp> sums;  // Reduce nodes that add
};

Signature signatureOf(UOp sink) {
  Signature s;
  for (const Access& access : accessesOf(sink)) (access.isStore ? s.stores : s.loads).push_back(access);
  for (const Axis& axis : axesOf(sink)) {
    if (axis.nest == Nest::Output) s.outputs.push_back(axis.range);
    if (axis.nest == Nest::Reduce) s.reduces.push_back(axis.range);
  }
  for (UOp n : toposort(sink))
    if (n.op() == Op::Reduce && n.argAs<ReduceArg>().op == Op::Add) s.sums.push_back(n);
  return s;
}

// Two operands share a reduce axis, and each lacks an output axis that the other has.
bool isGemm(const Signature& s) {
  auto lacksWhatOtherHas = [&](UOp a, UOp b) {
    return std::ranges::any_of(s.outputs, [&](UOp r) { return !a.dependsOn(r) && b.dependsOn(r); });
  };
  auto shareReduce = [&](UOp a, UOp b) {
    return std::ranges::any_of(s.reduces, [&](UOp r) { return a.dependsOn(r) && b.dependsOn(r); });
  };
  for (const Access& a : s.loads)
    for (const Access& b : s.loads)
      if (shareReduce(a.node, b.node) && lacksWhatOtherHas(a.node, b.node) &&
          lacksWhatOtherHas(b.node, a.node))
        return true;
  return false;
}

// An address moves alike with an output and a reduce axis: a sliding window.
bool hasWindow(const Signature& s) {
  for (const Access& load : s.loads)
    for (UOp r : s.outputs)
      for (UOp k : s.reduces)
        if (slides(load, r, k)) return true;
  return false;
}

bool anyUnitStride(std::span<const Access> accesses, std::span<const UOp> ranges) {
  for (const Access& a : accesses)
    for (UOp r : ranges)
      if (strideOf(a, r) == 1) return true;
  return false;
}

bool isTranspose(const Signature& s) {
  for (const Access& store : s.stores)
    for (UOp r : s.outputs) {
      if (strideOf(store, r) != 1) continue;
      for (const Access& load : s.loads)
        if (strideOf(load, r).value_or(0) > 1) return true;
    }
  return false;
}

// A sum of products in which only one factor has an output axis.
bool isGemv(const Signature& s) {
  for (UOp sum : s.sums) {
    const UOp product = sum.src(0);
    if (product.op() != Op::Mul) continue;
    const UOp a = product.src(0), b = product.src(1);
    auto inBoth = [&](UOp r) { return a.dependsOn(r) && b.dependsOn(r); };
    auto inOne = [&](UOp r) { return a.dependsOn(r) != b.dependsOn(r); };
    if (std::ranges::any_of(s.reduces, inBoth) && std::ranges::any_of(s.outputs, inOne)) return true;
  }
  return false;
}

bool isGather(const Signature& s) {
  for (const Access& a : s.loads)
    for (UOp n : toposort(a.address))
      if (n.op() == Op::Load) return true;
  return false;
}

// A sum of products over rows that another one made.
bool isChained(const Signature& s) {
  return std::ranges::any_of(
      s.sums, [](UOp sum) { return sumsProducts(sum) && std::ranges::any_of(toposort(sum.src(0)), sumsProducts); });
}

struct PatternRow {
  PatternInfo info;
  bool (*fits)(const Signature& s);
};

// In the order in which they are tried: a kernel has the first pattern that fits.
constexpr PatternRow kPatterns[] = {
    {{Pattern::Scalar, "scalar", "no loops"},
     [](const Signature& s) { return s.outputs.empty() && s.reduces.empty(); }},
    {{Pattern::FullReduce, "full-reduce", "one result of all elements"},
     [](const Signature& s) { return s.outputs.empty(); }},
    {{Pattern::Attention, "attention", "products whose results are rows of another product"}, isChained},
    {{Pattern::Conv, "conv", "products summed over windows that slide over an operand"},
     [](const Signature& s) { return isGemm(s) && hasWindow(s); }},
    {{Pattern::Gemm, "gemm", "rows of one operand times columns of another, summed"}, isGemm},
    {{Pattern::Gemv, "gemv", "rows of a matrix times one vector, summed"}, isGemv},
    {{Pattern::RowReduce, "row-reduce", "reductions along what is contiguous in memory"},
     [](const Signature& s) { return !s.reduces.empty() && anyUnitStride(s.loads, s.reduces); }},
    {{Pattern::ColumnReduce, "column-reduce", "reductions across what is contiguous in memory"},
     [](const Signature& s) { return !s.reduces.empty(); }},
    {{Pattern::Gather, "gather", "elements whose place is read from memory"}, isGather},
    {{Pattern::Transpose, "transpose", "elements stored in another order than they are read"}, isTranspose},
    {{Pattern::Streaming, "streaming", "elements one after the other"}, [](const Signature&) { return true; }},
};

}  // namespace

const PatternInfo& info(Pattern pattern) {
  return std::ranges::find(kPatterns, pattern, [](const PatternRow& row) { return row.info.pattern; })->info;
}

Pattern patternOf(UOp sink) {
  Signature s = signatureOf(sink);
  return std::ranges::find_if(kPatterns, [&](const PatternRow& row) { return row.fits(s); })->info.pattern;
}

}  // namespace svod
