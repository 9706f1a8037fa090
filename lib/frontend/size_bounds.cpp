#include "frontend/size_bounds.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ir/evaluate.h"
#include "ir/likely.h"
#include "ir/polynomial.h"

namespace svod {

namespace {

using Values = std::map<std::string, int64_t>;

std::string nameOf(UOp variable) { return std::string(variable.argAs<VarArg>().name); }

std::vector<UOp> variablesOf(UOp left, UOp right) {
  std::vector<UOp> all;
  for (UOp root : {left, right})
    for (UOp n : toposort(root))
      if (n.op() == Op::Var && std::ranges::find(all, n) == all.end()) all.push_back(n);
  std::ranges::sort(all, {}, nameOf);
  return all;
}

/// left >= right, or left == right, under bounds of the variables, tried at their corners.
class AtLeast {
 public:
  AtLeast(UOp left, UOp right, bool isEqual = false)
      : left_(left), right_(right), isEqual_(isEqual), variables_(variablesOf(left, right)) {
    for (UOp v : variables_) bounds_[nameOf(v)] = v.bounds();
  }
  const std::vector<UOp>& variables() const { return variables_; }
  std::map<std::string, Interval>& bounds() { return bounds_; }

  bool holds() const {
    return atAllCorners([this](const Values& values) { return holdsAt(values); });
  }
  bool holdsWith(const std::string& name, int64_t value) {
    const Interval before = std::exchange(bounds_[name], Interval{value, value});
    const bool result = holds();
    bounds_[name] = before;
    return result;
  }
  /// Whether it holds with this value for some of the others.
  bool mayHoldWith(const std::string& name, int64_t value) {
    const Interval before = std::exchange(bounds_[name], Interval{value, value});
    const bool never = atAllCorners([this](const Values& values) { return !holdsAt(values); });
    bounds_[name] = before;
    return !never;
  }
  /// Whether a size of 0 is all that is left with this value.
  bool isNothingWith(const std::string& name, int64_t value) {
    const Interval before = std::exchange(bounds_[name], Interval{value, value});
    const bool result = atAllCorners([this](const Values& values) {
      const std::optional<Scalar> left = evaluate(left_, leafOf(values));
      return left && left->asInt() == 0;
    });
    bounds_[name] = before;
    return result;
  }

 private:
  bool atAllCorners(const std::function<bool(const Values&)>& isSo) const {
    constexpr size_t kMostVariables = 9;
    if (variables_.size() > kMostVariables) return false;
    Values values;
    for (size_t corner = 0; corner < size_t{1} << variables_.size(); ++corner) {
      for (size_t i = 0; i < variables_.size(); ++i) {
        const Interval b = bounds_.at(nameOf(variables_[i]));
        values[nameOf(variables_[i])] = corner >> i & 1 ? b.max : b.min;
      }
      if (!isSo(values)) return false;
    }
    return true;
  }
  static LeafValue leafOf(const Values& values) {
    return [&values](UOp v) -> std::optional<Scalar> {
      if (v.op() != Op::Var) return std::nullopt;
      return Scalar::ofInt(DType::Index, values.at(nameOf(v)));
    };
  }
  /// Whether a sum or product on the way leaves 64 bits: evaluate() wraps.
  static bool mayWrap(UOp root, const Values& values) {
    std::map<uint32_t, double> at;
    for (UOp n : toposort(root)) {
      const auto source = [&](size_t i) { return at[n.src(i).id()]; };
      double& value = at[n.id()];
      switch (n.op()) {
        case Op::Const: value = static_cast<double>(n.constInt()); break;
        case Op::Var: value = static_cast<double>(values.at(nameOf(n))); break;
        case Op::Add: value = source(0) + source(1); break;
        case Op::Sub: value = source(0) - source(1); break;
        case Op::Mul: value = source(0) * source(1); break;
        case Op::Floordiv: value = std::floor(source(0) / source(1)); break;
        case Op::Min: value = std::min(source(0), source(1)); break;
        case Op::Max: value = std::max(source(0), source(1)); break;
        default:  // of the others none is beyond its operands
          for (size_t i = 0; i < n.srcCount(); ++i) value = std::max(value, std::abs(source(i)));
      }
      constexpr double kMost = 4e18;
      if (!(std::abs(value) < kMost)) return true;
    }
    return false;
  }
  bool holdsAt(const Values& values) const {
    if (mayWrap(left_, values) || mayWrap(right_, values)) return false;
    const std::optional<Scalar> left = evaluate(left_, leafOf(values)), right = evaluate(right_, leafOf(values));
    return left && right && (isEqual_ ? left->asInt() == right->asInt() : left->asInt() >= right->asInt());
  }

  UOp left_, right_;
  bool isEqual_;
  std::vector<UOp> variables_;
  std::map<std::string, Interval> bounds_;
};

constexpr int64_t kLargestLeast = 1 << 20;

// It does not hold at `bad`, and from some value on up to `good` it does: that value.
int64_t border(AtLeast& demand, const std::string& name, int64_t bad, int64_t good) {
  while (good - bad > 1 || bad - good > 1) {
    const int64_t middle = bad + (good - bad) / 2;
    (demand.holdsWith(name, middle) ? good : bad) = middle;
  }
  return good;
}

// The bounds of one variable for which it holds: from a number on, or up to one. Beyond the greatest when none inside
// does.
std::optional<Interval> tightened(AtLeast& demand, const std::string& name) {
  const Interval b = demand.bounds().at(name);
  const bool holdsAtLeast = demand.holdsWith(name, b.min);
  if (holdsAtLeast && demand.holdsWith(name, b.max)) return b;
  if (holdsAtLeast) return Interval{b.min, border(demand, name, b.max, b.min)};
  int64_t most = b.max;
  while (!demand.holdsWith(name, most) && most < kLargestLeast) most = std::max<int64_t>(1, most * 2);
  if (!demand.holdsWith(name, most)) return std::nullopt;
  const int64_t least = border(demand, name, b.min, most);
  return Interval{least, least <= b.max ? b.max : kUsualMultiple * least};
}

std::vector<std::string> freeOf(const AtLeast& demand, const std::function<bool(const std::string&)>& isFree) {
  std::vector<std::string> free;
  for (UOp v : demand.variables())
    if (isFree(nameOf(v))) free.push_back(nameOf(v));
  return free;
}

// Each variable is as large as it takes where the others are largest, as where the least of them counts.
std::optional<std::map<std::string, Interval>> leastOfEach(AtLeast demand, const std::vector<std::string>& free) {
  std::map<std::string, Interval> found;
  for (const std::string& name : free) {
    AtLeast alone = demand;
    for (auto& [other, b] : alone.bounds())
      if (other != name) b.min = b.max;
    const Interval before = demand.bounds().at(name);
    const std::optional<Interval> needed = tightened(alone, name);
    if (!needed || needed->max < before.max || needed->max - needed->min < 2) return std::nullopt;
    if (needed->min > before.min) found[name] = demand.bounds()[name] = *needed;
  }
  return demand.holds() ? std::optional(found) : std::nullopt;
}

// Greatest values are halved in turns, first those that are most times their likely value: the bounds that changed.
std::optional<std::map<std::string, Interval>> halvedUntil(const std::function<bool()>& isEnough,
                                                           const std::vector<UOp>& variables,
                                                           const std::vector<std::string>& free,
                                                           std::map<std::string, Interval>& bounds) {
  std::map<std::string, double> likely;
  for (UOp v : variables) likely[nameOf(v)] = static_cast<double>(std::max<int64_t>(1, likelySize(v)));
  const auto timesLikely = [&](const std::string& name) {
    return static_cast<double>(bounds[name].max) / likely[name];
  };
  std::map<std::string, Interval> found;
  for (int halvings = 0; !isEnough(); ++halvings) {
    std::string most;
    for (const std::string& name : free)
      if (most.empty() || timesLikely(name) > timesLikely(most)) most = name;
    constexpr int kMostHalvings = 200;
    if (most.empty() || halvings > kMostHalvings) return std::nullopt;
    Interval& b = bounds[most];
    if (b.max <= b.min) return std::nullopt;
    b.max = std::max(b.min, b.max / 2);
    found[most] = b;
  }
  return found;
}

// What a size is at most. Bounds of nodes see each term of a size that is chosen between others by itself.
int64_t greatest(Graph& graph, UOp dim) {
  const WideInterval bounds = boundsOf(toPolynomial(graph, dim));
  return bounds.fits() ? std::min(static_cast<int64_t>(bounds.max), dim.bounds().max) : dim.bounds().max;
}

// The elements that a buffer of these dims has with other bounds of the variables, as bounds of nodes say or closer.
double mostElements(Graph& graph, std::span<const UOp> dims, const std::map<std::string, Interval>& bounds,
                    bool isCloser) {
  double product = 1;
  for (UOp d : dims) {
    const UOp bounded = transform(graph, d, [&](UOp n, std::span<const UOp> src) {
      if (n.op() != Op::Var) return std::ranges::equal(src, n.src()) ? n : graph.withSrc(n, src);
      const Interval b = bounds.at(nameOf(n));
      return graph.variable(nameOf(n), b.min, b.max);
    });
    const int64_t most = isCloser ? greatest(graph, bounded) : bounded.bounds().max;
    product *= static_cast<double>(std::max<int64_t>(most, 0));
  }
  return product;
}

}  // namespace

std::optional<std::map<std::string, Interval>> boundsFor(UOp left, UOp right,
                                                         const std::function<bool(const std::string&)>& isFree) {
  AtLeast demand(left, right);
  std::map<std::string, Interval> found;
  if (demand.holds()) return found;
  const AtLeast whole = demand;
  const std::vector<std::string> free = freeOf(demand, isFree);
  // One variable alone may be enough.
  for (const std::string& name : free)
    if (std::optional<Interval> bounds = tightened(demand, name)) {
      demand.bounds()[name] = *bounds;
      if (!demand.holds()) return std::nullopt;
      if (free.size() > 1 && bounds->max - bounds->min < 2) break;  // leaves too little of one: of all a part
      found[name] = *bounds;
      return found;
    }
  const auto shares = sharesFor(left, right, isFree);
  return shares ? shares : leastOfEach(whole, free);
}

std::optional<std::pair<std::string, Interval>> mostForEqual(UOp left, UOp right,
                                                             const std::function<bool(const std::string&)>& isFree) {
  AtLeast demand(left, right, true);
  if (demand.holds()) return std::nullopt;
  for (const std::string& name : freeOf(demand, isFree)) {
    const Interval b = demand.bounds().at(name);
    constexpr int64_t kFew = 2;
    if (b.max - b.min < kFew || !demand.holdsWith(name, b.min) || demand.holdsWith(name, b.max)) continue;
    const int64_t most = border(demand, name, b.max, b.min);
    if (demand.isNothingWith(name, most) || demand.mayHoldWith(name, most + 1)) continue;
    if (most - b.min >= kFew && demand.holdsWith(name, b.min + 1)) return std::pair(name, Interval{b.min, most});
  }
  return std::nullopt;
}

std::optional<std::map<std::string, Interval>> sharesFor(UOp left, UOp right,
                                                         const std::function<bool(const std::string&)>& isFree) {
  AtLeast shares(left, right);
  return halvedUntil([&] { return shares.holds(); }, shares.variables(), freeOf(shares, isFree), shares.bounds());
}

int64_t mostElements(Graph& graph, std::span<const UOp> dims) {
  int64_t product = 1;
  for (UOp d : dims)
    if (__builtin_mul_overflow(product, std::max<int64_t>(greatest(graph, d), 0), &product)) return INT64_MAX;
  return product;
}

std::optional<std::pair<int64_t, UOp>> productOfShares(Graph& graph, std::span<const UOp> dims, int64_t room) {
  std::map<std::string, Interval> bounds;
  std::vector<UOp> variables;
  for (UOp d : dims)
    for (UOp v : variablesOf(d, d))
      if (bounds.emplace(nameOf(v), v.bounds()).second) variables.push_back(v);
  std::vector<std::string> names;
  for (const auto& [name, b] : bounds) names.push_back(name);
  // What is lacking may be asked by bounds of nodes, where closer ones already have the room.
  for (const bool isCloser : {true, false}) {
    const auto fits = [&] { return mostElements(graph, dims, bounds, isCloser) <= static_cast<double>(room); };
    const auto halved = halvedUntil(fits, variables, names, bounds);
    if (!halved) return std::nullopt;
    if (!halved->empty()) break;
  }
  int64_t most = 1;
  UOp product = graph.index(1);
  for (UOp v : variables) {
    if (__builtin_mul_overflow(most, bounds.at(nameOf(v)).max, &most)) return std::nullopt;
    product = graph.alu(Op::Mul, {product, v});
  }
  return std::pair(most, product);
}

}  // namespace svod
