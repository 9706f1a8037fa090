#include "onnx/rank_cases.h"

#include "frontend/tensor.h"

namespace svod {

int ReadingScore::against(const ReadingScore& other) const {
  auto sign = [](auto more, auto less) { return more > less ? 1 : more < less ? -1 : 0; };
  if (hasErrors != other.hasErrors) return hasErrors ? -1 : 1;
  if (hasErrors) return sign(failedAt, other.failedAt);
  if (otherRanks != other.otherRanks) return sign(other.otherRanks, otherRanks);
  if (branchesLeftOut != other.branchesLeftOut) return sign(other.branchesLeftOut, branchesLeftOut);
  return sign(other.checks, checks);
}

bool usualCase(UOp condition) {
  if (!condition) return true;
  if (condition.op() == Op::Not) return !usualCase(condition.src(0));
  return condition.op() != Op::Eq;
}

namespace {

void addDemands(Graph& g, UOp condition, bool holds, CaseDemands& all) {
  auto isSize = [](UOp u) { return u.dtype() == DType::Index; };
  if (condition.op() == Op::Not) return addDemands(g, condition.src(0), !holds, all);
  if (condition.op() == Op::And || condition.op() == Op::Or) {
    if (holds == (condition.op() == Op::And))
      for (UOp part : condition.src()) addDemands(g, part, holds, all);
    return;
  }
  if (condition.srcCount() != 2 || !isSize(condition.src(0)) || !isSize(condition.src(1))) return;
  const UOp a = condition.src(0), b = condition.src(1);
  auto after = [&](UOp u) { return (Dim(g, u) + 1).node(); };
  switch (condition.op()) {
    case Op::Lt: return all.ordered.push_back(holds ? std::pair(after(a), b) : std::pair(b, a));
    case Op::Le: return all.ordered.push_back(holds ? std::pair(a, b) : std::pair(after(b), a));
    case Op::Eq:
    case Op::Ne: break;
    default: return;
  }
  if (holds == (condition.op() == Op::Eq)) {
    all.equal.emplace_back(a, b);
    all.ordered.emplace_back(a, b), all.ordered.emplace_back(b, a);
  } else {
    const bool isAbove = a.bounds().max > b.bounds().max;
    all.ordered.push_back(isAbove ? std::pair(after(b), a) : std::pair(after(a), b));
  }
}

}  // namespace

CaseDemands demandsOf(Graph& graph, UOp condition, bool holds) {
  CaseDemands all;
  addDemands(graph, condition, holds, all);
  return all;
}

}  // namespace svod
