// Answers from the values of a dim at points: all of them where there are few, samples where there are many.
#include <algorithm>

#include "ir/dim_facts_parts.h"
#include "ir/evaluate.h"

namespace svod::detail {

std::vector<UOp> leavesOf(UOp dim) {
  std::vector<UOp> leaves;
  for (UOp u : toposort(dim))
    if (!u.isConst() && !isElementwise(u.op()) && u.dtype() == DType::Index) leaves.push_back(u);
  return leaves;
}

namespace {

constexpr int64_t kMaxPoints = 1024;  // of which all are tried
constexpr int kSamples = 8;

bool isLeaf(UOp u) { return u.op() == Op::Var || u.op() == Op::Range; }

std::optional<int64_t> valueAt(UOp dim, std::span<const UOp> leaves, std::span<const int64_t> values) {
  std::optional<Scalar> value = evaluate(dim, [&](UOp leaf) -> std::optional<Scalar> {
    auto at = std::ranges::find(leaves, leaf);
    if (at == leaves.end()) return std::nullopt;
    return Scalar::ofInt(DType::Index, values[static_cast<size_t>(at - leaves.begin())]);
  });
  if (!value) return std::nullopt;
  return value->asInt();
}

}  // namespace

std::optional<Truth> byAllPoints(Question question, UOp dim, std::span<const UOp> leaves) {
  __int128 points = 1;
  bool hasCounter = false;  // which does not reach its greatest value when its extent is not
  for (UOp u : leaves) {
    if (!isLeaf(u)) return std::nullopt;
    hasCounter |= u.op() != Op::Var;
    points *= static_cast<__int128>(u.bounds().max) - u.bounds().min + 1;
    if (points > kMaxPoints || points <= 0) return std::nullopt;
  }
  std::vector<int64_t> at;
  for (UOp u : leaves) at.push_back(u.bounds().min);
  Cases cases;
  for (int64_t i = 0; i < static_cast<int64_t>(points); ++i) {
    std::optional<int64_t> value = valueAt(dim, leaves, at);
    if (!value) return std::nullopt;
    cases.add(answerOf(question, *value));
    if (cases.fails && !cases.never) break;
    for (size_t v = 0; v < at.size() && ++at[v] > leaves[v].bounds().max; ++v) at[v] = leaves[v].bounds().min;
  }
  return hasCounter && cases.all() == Truth::NotAlways ? Truth::Unknown : cases.all();
}

bool failsSomewhere(Question question, UOp dim) {
  const std::vector<UOp> leaves = leavesOf(dim);
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<int64_t> at;
    for (UOp u : leaves) {
      if (u.op() != Op::Var) return false;
      const Interval& b = u.bounds();
      const uint64_t span = static_cast<uint64_t>(b.max) - static_cast<uint64_t>(b.min);
      const uint64_t mix = (u.hash().lo ^ static_cast<uint64_t>(sample)) * 0x9E3779B97F4A7C15u >> 8;
      at.push_back(sample == 0   ? b.min
                   : sample == 1 ? b.max
                                 : b.min + static_cast<int64_t>(span == UINT64_MAX ? mix : mix % (span + 1)));
    }
    std::optional<int64_t> value = valueAt(dim, leaves, at);
    if (value && !holds(question, *value)) return true;
  }
  return false;
}

}  // namespace svod::detail
