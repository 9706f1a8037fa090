#include "facts/patterns.h"

#include <algorithm>

#include "facts/kernel_facts.h"

namespace svod {

bool sumsProducts(UOp n) {
  return n.op() == Op::Reduce && n.argAs<ReduceArg>().op == Op::Add && n.src(0).op() == Op::Mul;
}

namespace {

struct Signature {
  std::vector<Access> loads, stores;
  std::vector<UOp> outputs, reduces;
  std::vector<UOp> sums;  // Reduce nodes that add
};

Signature signatureOf(const KernelFacts& kernel) {
  Signature s;
  for (const Access& access : kernel.accesses) (access.isStore ? s.stores : s.loads).push_back(access);
  for (const Axis& axis : kernel.axes) {
    if (axis.nest == Nest::Output) s.outputs.push_back(axis.range);
    if (axis.nest == Nest::Reduce) s.reduces.push_back(axis.range);
  }
  for (UOp n : kernel.reduces)
    if (n.argAs<ReduceArg>().op == Op::Add) s.sums.push_back(n);
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
      if (shareReduce(a.node, b.node) && lacksWhatOtherHas(a.node, b.node) && lacksWhatOtherHas(b.node, a.node))
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

// A sum of products over rows that another one made, and that more than one result reads. Part of a sum that is scaled
// before it is added up, as a block of a quantized row is, belongs to one result.
bool isChained(const Signature& s) {
  const auto areRowsOf = [&](UOp sum, UOp inner) {
    return sumsProducts(inner) && std::ranges::any_of(s.outputs, [&](UOp output) {
             return sum.dependsOn(output) && !inner.dependsOn(output);
           });
  };
  return std::ranges::any_of(s.sums, [&](UOp sum) {
    return sumsProducts(sum) &&
           std::ranges::any_of(toposort(sum.src(0)), [&](UOp inner) { return areRowsOf(sum, inner); });
  });
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

Pattern patternOf(UOp sink) { return patternOf(KernelFacts(sink)); }

Pattern patternOf(const KernelFacts& kernel) {
  Signature s = signatureOf(kernel);
  return std::ranges::find_if(kPatterns, [&](const PatternRow& row) { return row.fits(s); })->info.pattern;
}

}  // namespace svod
