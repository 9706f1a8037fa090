#include "choose/size_points.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cost/parameters.h"
#include "facts/patterns.h"
#include "ir/evaluate.h"

namespace svod {

namespace {

std::vector<UOp> sizesOfLoops(UOp sink) {
  std::vector<UOp> extents, variables;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range) extents.push_back(n.src(0));
  for (UOp n : toposort(extents))
    if (n.op() == Op::Var && n.bounds().min < n.bounds().max) variables.push_back(n);
  return variables;
}

/// Texts and batches of one element happen, pictures and sounds of one do not.
int64_t smallSize(const VarArg& v) {
  const int64_t size = v.likely > parameters::kSmallRuns ? v.likely / parameters::kSmallerRun : 1;
  return std::clamp(size, v.min, v.max);
}

/// A size that is as likely as the likely one, but not a power of two times a small number.
int64_t otherSize(const VarArg& v) {
  const bool isLarge = v.likely > parameters::kSmallRuns;
  return std::clamp(isLarge ? v.likely * parameters::kOtherRun / 100 : v.likely, v.min, v.max);
}

/// Whether sums of a few terms are all it has, as those of pools and of filters of one channel: how well tiles divide
/// short lines is most of their time, and little of that of compiling.
bool sumsWindowsAlone(UOp sink) {
  int64_t terms = 1;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Range || n.argAs<AxisArg>().type != AxisType::Reduce) continue;
    if (n.src(0).bounds().max > parameters::kTermsOfWindow) return false;
    terms *= n.src(0).bounds().max;
  }
  return terms > 1 && terms <= parameters::kTermsOfWindow;
}

}  // namespace

SizePoints::SizePoints(UOp sink, const Caps& caps) : variables_(sizesOfLoops(sink)) {
  if (variables_.empty()) return;
  for (UOp end : sink.src())
    if (end.op() == Op::End)
      for (UOp range : end.src().subspan(1)) extents_.push_back(range.src(0));
  const auto each = [&](const std::function<int64_t(const VarArg&)>& sizeOf) {
    std::vector<int64_t> sizes;
    for (UOp v : variables_) sizes.push_back(sizeOf(v.argAs<VarArg>()));
    return sizes;
  };
  add(each([](const VarArg& v) { return v.likely; }), parameters::kLikelyWeight);
  const bool arePictures =
      std::ranges::any_of(variables_, [](UOp v) { return v.argAs<VarArg>().likely > parameters::kSmallRuns; });
  add(each(smallSize), arePictures ? parameters::kSmallWeight : 1);
  const size_t chosen = points_.size();
  if (arePictures) add(each(otherSize), 1);
  if (points_.size() > chosen) points_.back().isPricedOnly = !sumsWindowsAlone(sink);
  const bool isProduct = hasRowsOfProduct(sink);
  const int64_t least = isProduct ? parameters::kRowsOfLargerProduct : 0;
  larger_ = add(each([&](const VarArg& v) {
                  return std::clamp(std::max(parameters::kLargerRun * v.likely, least), v.min, v.max);
                }),
                1);
  if (isProduct) addFewRows(!caps.constants.empty());
}

/// Rows that one tile holds have a kernel of their own where panels of weights are stored for many rows, wide enough
/// for few accumulators alone. What is chosen for all others knows that a run may have too few rows to pay for copies.
/// An operand that a run gives is read where it lies, until there are rows enough to copy it: what suits few of them
/// suits the others up to that number, too.
void SizePoints::addFewRows(bool hasWeights) {
  const VarArg& v = variables_[0].argAs<VarArg>();
  const int64_t few = parameters::kFewRowsOfProduct;
  if (smallSize(v) >= few || v.max <= few) return;
  add({std::min(hasWeights ? parameters::kSomeRowsOfProduct : parameters::kUncopiedRows, v.max)}, 1);
  add({std::min(hasWeights ? few : parameters::kManyRowsOfProduct, v.max)}, 1);
  for (SizePoint& point : points_) point.isForCase = hasWeights && point.sizes[0] <= few;
}

/// Whether it is a product whose rows are one variable and nothing else.
bool SizePoints::hasRowsOfProduct(UOp sink) const {
  const Pattern pattern = patternOf(sink);
  const bool isProduct = pattern == Pattern::Gemm || pattern == Pattern::Gemv;
  return isProduct && variables_.size() == 1 && extents_.size() == 2;
}

bool SizePoints::doesRun(std::span<const int64_t> sizes) const {
  const auto sizeOf = [&](UOp leaf) -> std::optional<Scalar> {
    const auto at = std::ranges::find(variables_, leaf);
    if (at == variables_.end()) return std::nullopt;
    return Scalar::ofInt(leaf.dtype(), sizes[static_cast<size_t>(at - variables_.begin())]);
  };
  return std::ranges::all_of(extents_, [&](UOp extent) {
    const std::optional<Scalar> count = evaluate(extent, sizeOf);
    return !count || count->asInt() > 0;
  });
}

size_t SizePoints::add(std::vector<int64_t> sizes, double weight) {
  if (!doesRun(sizes)) return 0;
  const auto number = static_cast<size_t>(std::ranges::find(points_, sizes, &SizePoint::sizes) - points_.begin());
  if (number == points_.size()) points_.push_back({std::move(sizes), 0});
  points_[number].weight += weight;
  return number;
}

double SizePoints::weight() const {
  double sum = 0;
  for (const SizePoint& point : points_) sum += point.isForCase ? 0 : point.weight;
  return sum;
}

UOp SizePoints::upTo(Graph& graph, UOp sink, const SizePoint& point) const {
  std::vector<UOp> to;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const VarArg& v = variables_[i].argAs<VarArg>();
    const int64_t least = std::max<int64_t>(v.min, 1), most = std::max(least, point.sizes[i]);
    to.push_back(least == most ? graph.index(most) : graph.variable(v.name, least, most));
  }
  return substitute(graph, sink, variables_, to);
}

std::optional<std::vector<int64_t>> SizePoints::between(const SizePoint& from, const SizePoint& to, double part) const {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const double least = static_cast<double>(from.sizes[i]), most = static_cast<double>(to.sizes[i]);
    sizes.push_back(least <= 0 ? from.sizes[i] : std::llround(least * std::pow(most / least, part)));
  }
  if (!doesRun(sizes)) return std::nullopt;
  return sizes;
}

std::vector<SizeLimits> SizePoints::limits(const SizePoint& point, const SizePoint& other,
                                           std::span<const int64_t> sizes) const {
  std::vector<SizeLimits> limits;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const VarArg& v = variables_[i].argAs<VarArg>();
    const int64_t own = point.sizes[i];
    const Interval side = own < other.sizes[i] ? Interval{v.min, sizes[i]} : Interval{sizes[i], v.max};
    if (own != other.sizes[i] && (side.min > v.min || side.max < v.max))
      limits.push_back({std::string(v.name), side.min, side.max, own});
  }
  return limits;
}

UOp SizePoints::at(Graph& graph, UOp sink, std::span<const int64_t> sizes) const {
  std::vector<UOp> to;
  for (int64_t size : sizes) to.push_back(graph.index(size));
  return substitute(graph, sink, variables_, to);
}

std::string SizePoints::toText(const SizePoint& point) const {
  std::string text;
  for (size_t i = 0; i < variables_.size(); ++i)
    text +=
        (i == 0 ? "" : ", ") + std::string(variables_[i].argAs<VarArg>().name) + " = " + std::to_string(point.sizes[i]);
  return text;
}

}  // namespace svod
