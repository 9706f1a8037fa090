// Sizes that must be equal: proved, refuted, or left to the runs.
#include "frontend/builder.h"
#include "ir/dim_facts.h"

namespace svod {

namespace {

std::pair<uint32_t, uint32_t> unordered(Dim a, Dim b) { return std::minmax(a.node().id(), b.node().id()); }

// Sizes of the whole model, not of one iteration.
bool isOfRun(Dim d) { return d.node().ranges().empty(); }

}  // namespace

bool GraphBuilder::agree(Dim a, Dim b, Stretch stretch) {
  if (!a || !b) return false;
  if (a == b) return true;
  if (expected_.equalSizes.contains(unordered(a, b))) {
    expected_.isUsedInCondition |= isConditional();
    return true;
  }
  auto [at, isNew] = decided_.try_emplace(unordered(a, b));
  if (isNew) at->second = equalDims(a.node(), b.node());
  if (at->second == Truth::Always) return true;
  const bool mayBeLeft = at->second == Truth::Unknown || (at->second != Truth::Never && expected_.leavesSizes);
  const bool isLeftToRuns = mayBeLeft && isOfRun(a) && isOfRun(b);
  // Bounds that nobody gave make sizes differ no more than they make them equal. A length is no variable that the
  // command line could bind.
  if (unifier_ && !isConditional() && !hasLength(a) && !hasLength(b) && unifier_(a, b, {isLeftToRuns, stretch})) {
    lacking_ = Demand{a, b, true, false, stretch};
    return false;
  }
  if (!isLeftToRuns) return false;
  expectEqual(a, b, (opName_.empty() ? "" : opName_ + ": ") + "the sizes " + describe(a) + " and " + describe(b));
  return !failed();
}

void GraphBuilder::expectEqual(Dim a, Dim b, std::string_view text) {
  if (!a || !b || a == b || expected_.equalSizes.contains(unordered(a, b))) return;
  if (expected_.isClosed) {
    fail(Diag::ShapeMismatch, std::string(text) + " may differ", "make them equal before");
    return;
  }
  if (!isOfRun(a) || !isOfRun(b)) {
    fail(Diag::Syntax, "the sizes " + describe(a) + " and " + describe(b) + " depend on a loop",
         "expect it of what the loop leaves");
    return;
  }
  if (equalDims(a.node(), b.node()) == Truth::Never) {
    fail(Diag::ShapeMismatch, std::string(text) + ": " + describe(a) + " is never " + describe(b),
         "correct the shapes, or the bounds of the variables in them");
    return;
  }
  expected_.equalSizes.insert(unordered(a, b));
  if (isConditional()) {
    expected_.isUsedInCondition = true;
    expected_.inConditions.back().push_back(
        {cast(value(a), DType::I64), cast(value(b), DType::I64), std::string(text), ExpectationKind::Agrees});
    return;
  }
  if (BuildLog::Step* step = log_.addBeforeCall(BuildLog::Kind::Expect, text, graph().size()))
    step->attributes = {{"a", a}, {"b", b}};
  if (!hasLength(a) && !hasLength(b)) {
    model_.equalSizes.push_back({a.node(), b.node(), std::string(text)});
    return;
  }
  addExpectation(unsqueeze(cast(value(a), DType::I64), 0), unsqueeze(cast(value(b), DType::I64), 0), text,
                 ExpectationKind::Agrees);
}

void GraphBuilder::onlyWhere(Tensor condition, const std::function<void()>& build) {
  if (bodies_.isInLoop()) return build();
  const std::set<std::pair<uint32_t, uint32_t>> before = expected_.equalSizes;
  expected_.inConditions.emplace_back();
  build();
  const std::vector<ExpectedOfRuns::Check> all = std::move(expected_.inConditions.back());
  expected_.inConditions.pop_back();
  expected_.equalSizes = before;
  for (size_t i = 0; i < all.size() && !failed(); ++i)
    expect(where(condition, cast(all[i].given, DType::I64), cast(all[i].wanted, DType::I64)), all[i].wanted,
           all[i].text, all[i].kind);
}

bool GraphBuilder::expectAtMost(Dim least, Dim most, std::string_view text) {
  if (!least || !most) return false;
  const Truth fits = lessEqualDims(least.node(), most.node());
  if (fits == Truth::Always) return true;
  const bool mayFit = fits != Truth::Never && least.min() <= most.max();
  if (mayFit && isOfRun(least) && isOfRun(most)) {
    expectEqual(smaller(least, most), least, (opName_.empty() ? "" : opName_ + ": ") + std::string(text));
  } else if (!mayFit || mayBeNegative((most - least).node())) {
    fail(Diag::ShapeMismatch, std::string(text) + ", and there are " + describe(most),
         "ask for fewer, or pad the value in front of this op");
  }
  return !failed();
}

Tensor GraphBuilder::fitted(Tensor x, const Dims& dims) {
  if (!x || x.rank() != dims.rank()) return {};
  std::vector<UOp> offsets, sizes;
  bool isSame = true, isProved = true;
  for (int i = 0; i < dims.rank(); ++i) {
    offsets.push_back(graph().index(0));
    sizes.push_back(dims[i].node());
    if (x.dim(i) == dims[i]) continue;
    isSame = false;
    isProved &= alwaysEqual(x.dim(i).node(), sizes.back());
  }
  if (isSame) return x;
  return wrap(isProved ? graph().reshape(x.node(), sizes) : graph().shrink(x.node(), offsets, sizes));
}

}  // namespace svod
