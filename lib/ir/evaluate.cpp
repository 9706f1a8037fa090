#include "ir/evaluate.h"

#include <algorithm>
#include <unordered_map>

namespace svod {

namespace {

/// Without recursion: sizes made of sizes nest as deep as a graph is long.
class Evaluator {
 public:
  explicit Evaluator(const LeafValue& leaf) : leaf_(leaf) {}

  std::optional<Scalar> value(UOp root) {
    if (root.isConst()) return root.constant();
    std::vector<UOp> pending{root};
    while (!pending.empty()) {
      UOp u = pending.back();
      const size_t before = pending.size();
      if (isElementwise(u.op()) && !memo_.contains(u.id()))
        for (UOp s : u.src())
          if (!s.isConst() && !memo_.contains(s.id())) pending.push_back(s);
      if (pending.size() > before) continue;
      pending.pop_back();
      if (memo_.contains(u.id())) continue;
      std::optional<Scalar> result = compute(u);
      if (!result) return std::nullopt;
      memo_.emplace(u.id(), *result);
    }
    return memo_.at(root.id());
  }

 private:
  std::optional<Scalar> compute(UOp u) {
    if (!isElementwise(u.op())) return leaf_(u);
    Scalar operands[3];
    for (size_t i = 0; i < u.srcCount(); ++i)
      operands[i] = u.src(i).isConst() ? u.src(i).constant() : memo_.at(u.src(i).id());
    return evalScalar(u.op(), u.dtype(), std::span(operands, u.srcCount()));
  }

  const LeafValue& leaf_;
  std::unordered_map<uint32_t, Scalar> memo_;
};

// Points at which symbolic dims are compared: both ends, then spread positions that differ per variable.
constexpr int kSamples = 6;

int64_t sampleOf(UOp variable, int sample) {
  const Interval& v = variable.bounds();
  if (sample == 0 || v.min == v.max) return v.min;
  if (sample == 1) return v.max;
  uint64_t span = static_cast<uint64_t>(v.max) - static_cast<uint64_t>(v.min);
  uint64_t mix = (variable.hash().lo ^ static_cast<uint64_t>(sample)) * 0x9E3779B97F4A7C15u;
  return v.min + static_cast<int64_t>(span == UINT64_MAX ? mix : mix % (span + 1));
}

LeafValue leavesAt(int sample) {
  return [sample](UOp leaf) -> std::optional<Scalar> {
    if (leaf.op() != Op::Var && leaf.op() != Op::Range) return std::nullopt;
    return Scalar::ofInt(leaf.dtype(), sampleOf(leaf, sample));
  };
}

std::optional<int64_t> numelAt(std::span<const UOp> dims, int sample) {
  int64_t product = 1;
  for (UOp dim : dims) {
    std::optional<Scalar> size = evaluate(dim, leavesAt(sample));
    if (!size || __builtin_mul_overflow(product, size->asInt(), &product)) return std::nullopt;
  }
  return product;
}

bool allConst(std::span<const UOp> dims) {
  return std::ranges::all_of(dims, [](UOp d) { return d.isConst(); });
}

}  // namespace

std::optional<Scalar> evaluate(UOp value, const LeafValue& leaf) { return Evaluator(leaf).value(value); }

bool sameNumel(std::span<const UOp> a, std::span<const UOp> b) {
  if (std::ranges::equal(a, b)) return true;
  int samples = allConst(a) && allConst(b) ? 1 : kSamples;
  for (int i = 0; i < samples; ++i) {
    std::optional<int64_t> x = numelAt(a, i), y = numelAt(b, i);
    if (!x || !y || *x != *y) return false;
  }
  return true;
}

bool sameDim(UOp a, UOp b) { return a == b || sameNumel(std::span<const UOp>(&a, 1), std::span<const UOp>(&b, 1)); }

bool sameShape(std::span<const UOp> a, std::span<const UOp> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), sameDim);
}

}  // namespace svod
