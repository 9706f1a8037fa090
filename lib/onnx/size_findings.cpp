#include "onnx/size_findings.h"

#include <algorithm>
#include <map>
#include <optional>

#include "frontend/builder.h"
#include "frontend/size_bounds.h"
#include "ir/graph.h"

namespace svod {

namespace {

// --- Polynomials, in which every min and max is one of its operands

/// Products of atoms, sorted by id, with their factors; none is 0.
using Product = std::vector<UOp>;
struct IdLess {
  bool operator()(const Product& a, const Product& b) const {
    return std::ranges::lexicographical_compare(a, b, {}, &UOp::id, &UOp::id);
  }
};
using Polynomial = std::map<Product, int64_t, IdLess>;
/// Which operand each Min and Max is.
using Choice = std::map<uint32_t, int>;

constexpr size_t kMaxTerms = 64;

std::optional<Polynomial> sum(Polynomial a, const Polynomial& b, int64_t factor) {
  for (const auto& [product, times] : b) {
    int64_t more = 0;
    if (__builtin_mul_overflow(times, factor, &more) || __builtin_add_overflow(a[product], more, &a[product]))
      return std::nullopt;
    if (a[product] == 0) a.erase(product);
  }
  return a.size() <= kMaxTerms ? std::optional(std::move(a)) : std::nullopt;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  std::optional<Polynomial> total = Polynomial{};
  for (const auto& [x, times] : a)
    for (const auto& [y, more] : b) {
      Product both = x;
      both.insert(both.end(), y.begin(), y.end());
      std::ranges::sort(both, {}, &UOp::id);
      int64_t factor = 0;
      if (__builtin_mul_overflow(times, more, &factor)) return std::nullopt;
      if (total) total = sum(*std::move(total), {{both, factor}}, 1);
    }
  return total;
}

std::optional<Polynomial> quotientOf(UOp dim, const Choice& choice);

std::optional<Polynomial> polynomialOf(UOp dim, const Choice& choice) {
  if (dim.isConst()) return dim.isConst(0) ? Polynomial{} : Polynomial{{{}, dim.constInt()}};
  if (auto chosen = choice.find(dim.id()); chosen != choice.end())
    return polynomialOf(dim.src(static_cast<size_t>(chosen->second)), choice);
  if (dim.op() == Op::Floordiv) return quotientOf(dim, choice);
  const bool isSum = dim.op() == Op::Add || dim.op() == Op::Sub;
  if (!isSum && dim.op() != Op::Mul) return Polynomial{{{dim}, 1}};
  const std::optional<Polynomial> a = polynomialOf(dim.src(0), choice), b = polynomialOf(dim.src(1), choice);
  if (!a || !b) return std::nullopt;
  return isSum ? sum(*a, *b, dim.op() == Op::Add ? 1 : -1) : product(*a, *b);
}

std::optional<int64_t> numberOf(const std::optional<Polynomial>& p) {
  if (!p || p->size() > 1 || (p->size() == 1 && !p->begin()->first.empty())) return std::nullopt;
  return p->empty() ? 0 : p->begin()->second;
}

// A number where the choice makes one of both operands.
std::optional<Polynomial> quotientOf(UOp dim, const Choice& choice) {
  const std::optional<int64_t> above = numberOf(polynomialOf(dim.src(0), choice)),
                               below = numberOf(polynomialOf(dim.src(1), choice));
  if (!above || !below || *below <= 0) return Polynomial{{{dim}, 1}};
  const int64_t quotient = *above / *below - (*above % *below < 0 ? 1 : 0);
  return quotient == 0 ? Polynomial{} : Polynomial{{{}, quotient}};
}

// What stands in every product of p: b * (past + seq - total) is zero where the rest is, as sizes are not.
Polynomial withoutCommonAtoms(const Polynomial& p) {
  Product common = p.begin()->first;
  for (const auto& [atoms, times] : p) {
    Product kept;
    std::ranges::set_intersection(common, atoms, std::back_inserter(kept), {}, &UOp::id, &UOp::id);
    common = std::move(kept);
  }
  Polynomial rest;
  for (const auto& [atoms, times] : p) {
    Product left;
    std::ranges::set_difference(atoms, common, std::back_inserter(left), {}, &UOp::id, &UOp::id);
    rest[left] = times;
  }
  return rest;
}

// p as a sum of multiples of variables.
std::optional<SizeForm> linear(const Polynomial& p) {
  SizeForm form;
  for (const auto& [atoms, times] : p) {
    if (atoms.empty())
      form.constant = times;
    else if (atoms.size() == 1 && atoms[0].op() == Op::Var)
      form.factors[std::string(atoms[0].argAs<VarArg>().name)] = times;
    else
      return std::nullopt;
  }
  return form;
}

// --- What follows

void add(const std::map<std::string, Interval>& bounds, const std::string& by, const SizeVariables& sizes,
         SizeFindings& findings) {
  for (auto [name, b] : bounds) {
    if (b.max == sizes.boundsOf(name).max) b.max = SizeFindings::kUsual;
    auto [at, isNew] = findings.bounds.try_emplace(name, SizeFindings::Bounds{b, by});
    if (isNew) continue;
    if (b.min > at->second.bounds.min) {  // found under the bounds that it had
      at->second = {b, by};
      continue;
    }
    at->second = {{std::max(at->second.bounds.min, b.min), std::min(at->second.bounds.max, b.max)}, by};
    if (at->second.bounds.min > at->second.bounds.max) at->second.bounds = b;
  }
}

std::function<bool(const std::string&)> nobodyBounds(const SizeVariables& sizes) {
  return [&](const std::string& name) { return sizes.isKnown(name) && sizes.isFree(name) && !sizes.isGiven(name); };
}

// What the choice of operands of Min and Max asks for.
std::optional<std::map<std::string, Interval>> boundsOf(const std::vector<UOp>& nodes, const Choice& choice,
                                                        bool ofOneEach, const SizeVariables& sizes) {
  std::map<std::string, Interval> all;
  for (UOp n : nodes) {
    const auto chosen = static_cast<size_t>(choice.at(n.id()));
    const UOp taken = n.src(chosen), other = n.src(1 - chosen);
    const bool isMin = n.op() == Op::Min;
    auto bounds = boundsFor(isMin ? other : taken, isMin ? taken : other, nobodyBounds(sizes));
    if (!bounds || (ofOneEach && !bounds->empty() && variablesIn(taken, other) > 1)) return std::nullopt;
    for (const auto& [name, b] : *bounds) {
      auto [at, isNew] = all.try_emplace(name, b);
      if (!isNew) at->second = {std::max(at->second.min, b.min), std::min(at->second.max, b.max)};
      if (at->second.min > at->second.max) return std::nullopt;
    }
  }
  return all;
}

std::vector<UOp> clampsOf(UOp left, UOp right) {
  std::vector<UOp> all;
  for (UOp root : {left, right})
    for (UOp n : toposort(root))
      if ((n.op() == Op::Min || n.op() == Op::Max) && std::ranges::find(all, n) == all.end()) all.push_back(n);
  return all;
}

constexpr size_t kMostClamps = 5;

Choice choiceOf(const std::vector<UOp>& clamps, size_t bits) {
  Choice choice;
  for (size_t i = 0; i < clamps.size(); ++i) choice[clamps[i].id()] = static_cast<int>(bits >> i & 1);
  return choice;
}

struct EqualRules {
  bool mayUnify, ofOneEach;  // bounds concern one variable for each Min and Max
};

// The left side minus the right one.
std::optional<Polynomial> differenceOf(const SizeDemand& demand, const Choice& choice) {
  const std::optional<Polynomial> left = polynomialOf(demand.left, choice), right = polynomialOf(demand.right, choice);
  return left && right ? sum(*left, *right, -1) : std::nullopt;
}

// Some operands of Min and Max make both sides the same, whatever the variables are: nothing says that two are equal.
bool mayHoldAsItIs(const SizeDemand& demand) {
  const std::vector<UOp> clamps = clampsOf(demand.left, demand.right);
  for (size_t choices = 0; clamps.size() <= kMostClamps && choices < size_t{1} << clamps.size(); ++choices) {
    const std::optional<Polynomial> zero = differenceOf(demand, choiceOf(clamps, choices));
    if (zero && zero->empty()) return true;
  }
  return false;
}

// Those of `clamps` on whose choice it depends that both sides are the same: the other ones may be either operand.
std::vector<UOp> decisive(const SizeDemand& demand, const std::vector<UOp>& clamps, size_t choices) {
  std::vector<UOp> all;
  size_t either = 0;
  for (size_t i = 0; i < clamps.size(); ++i) {
    const size_t more = either | size_t{1} << i;
    bool isSame = true;
    for (size_t flipped = more; flipped > 0 && isSame; flipped = (flipped - 1) & more) {
      const std::optional<Polynomial> zero = differenceOf(demand, choiceOf(clamps, choices ^ flipped));
      isSame = zero && zero->empty();
    }
    if (isSame)
      either = more;
    else
      all.push_back(clamps[i]);
  }
  return all;
}

// Up to some size of one variable they are equal, as where a table ends.
bool learnMost(const SizeDemand& demand, SizeVariables& sizes, SizeFindings& findings) {
  const auto most = mostForEqual(demand.left, demand.right, nobodyBounds(sizes));
  if (most) add({*most}, demand.by, sizes, findings);
  return most.has_value();
}

bool learnEqual(const SizeDemand& demand, EqualRules rules, SizeVariables& sizes, SizeFindings& findings) {
  const std::vector<UOp> clamps = clampsOf(demand.left, demand.right);
  if (clamps.size() > kMostClamps) return false;
  for (size_t choices = 0; choices < size_t{1} << clamps.size(); ++choices) {
    const Choice choice = choiceOf(clamps, choices);
    const std::optional<Polynomial> left = polynomialOf(demand.left, choice),
                                    right = polynomialOf(demand.right, choice);
    const std::optional<Polynomial> zero = left && right ? sum(*left, *right, -1) : std::nullopt;
    if (!zero || (!rules.mayUnify && !zero->empty())) continue;
    if (zero->empty() && left->empty()) continue;  // nothing is left of either: no model is made for that
    const std::vector<UOp> needed = zero->empty() ? decisive(demand, clamps, choices) : clamps;
    const auto bounds = boundsOf(needed, choice, rules.ofOneEach, sizes);
    if (!bounds) continue;
    if (!zero->empty()) {
      const std::optional<SizeForm> form = linear(withoutCommonAtoms(*zero));
      if (!form || !sizes.unify(*form, SizeForm::number(0))) continue;
      findings.equalities.push_back({*form, SizeForm::number(0), demand.by});
      return true;  // with it, the choice may need no bounds: the next attempt says so
    }
    add(*bounds, demand.by, sizes, findings);
    return !bounds->empty();
  }
  return false;
}

// For all but some sizes it is 1, as x[-2:-1] has one row of more than one: what then stretches is equal to nothing.
bool learnOne(UOp dim, const std::string& by, SizeVariables& sizes, SizeFindings& findings) {
  const std::vector<UOp> clamps = clampsOf(dim, dim);
  if (clamps.empty() || clamps.size() > kMostClamps) return false;
  for (size_t choices = 0; choices < size_t{1} << clamps.size(); ++choices) {
    const Choice choice = choiceOf(clamps, choices);
    if (numberOf(polynomialOf(dim, choice)) != 1) continue;
    const auto bounds = boundsOf(clamps, choice, true, sizes);
    const auto isSeveral = [](const auto& b) { return b.second.max > b.second.min; };
    if (!bounds || bounds->empty() || !std::ranges::all_of(*bounds, isSeveral)) continue;
    add(*bounds, by, sizes, findings);
    return true;
  }
  return false;
}

bool learnStretched(const SizeDemand& demand, SizeVariables& sizes, SizeFindings& findings) {
  return (demand.stretch == Stretch::Any && learnOne(demand.right, demand.by, sizes, findings)) ||
         (demand.stretch != Stretch::None && learnOne(demand.left, demand.by, sizes, findings));
}

// Whether bounds of the size may see less than it is: of quotients by sizes, and of choices between sizes.
bool hasLooseBounds(const Dim& dim) {
  return std::ranges::any_of(toposort(dim.node()), [](UOp n) {
    return n.op() == Op::Min || n.op() == Op::Max || (n.op() == Op::Floordiv && !n.src(1).isConst());
  });
}

}  // namespace

int variablesIn(UOp left, UOp right) {
  std::set<uint32_t> all;
  for (UOp root : {left, right})
    for (UOp n : toposort(root))
      if (n.op() == Op::Var) all.insert(n.id());
  return static_cast<int>(all.size());
}

std::optional<SizeDemand> roomDemand(const Tensor& value) {
  const int64_t bytes = byteSize(value.dtype()), most = value.node().maxNumel();
  int64_t room = kRoomOfValue / bytes;
  if (most <= room) return std::nullopt;
  Graph& graph = value.builder()->graph();
  Dim taken(graph, graph.index(1));
  for (const Dim& dim : value.dims()) taken = taken * dim;
  // The bounds of b * (n // b) are those of b * n, and a buffer is as large as its bounds: of that a plan may hold no
  // more than several can have (kMaxPlanBytes). Where the sizes fit, there is less room by as much.
  constexpr int64_t kMostOfBounds = int64_t{1} << 54;
  const auto none = [](const std::string&) { return false; };
  const auto isMet = [&] { return room > 1 && sharesFor(graph.index(room), taken.node(), none).has_value(); };
  const int64_t excess = most / (kMostOfBounds / bytes);
  if (excess > 1 && std::ranges::any_of(value.dims(), hasLooseBounds) && isMet()) {
    while (isMet()) room /= 2;
    room = std::max<int64_t>(1, 2 * room / excess);
  }
  return SizeDemand{graph.index(room), taken.node(), false, {}, true};
}

bool learn(const SizeDemand& demand, SizeVariables& sizes, SizeFindings& findings) {
  if (demand.isEqual) {
    // A product of two sizes that is large enough says nothing of one of them.
    const bool takesShares = !demand.mayBeChecked, mayUnify = takesShares || !mayHoldAsItIs(demand);
    return learnEqual(demand, {false, true}, sizes, findings) || learnMost(demand, sizes, findings) ||
           (takesShares && learnEqual(demand, {false, false}, sizes, findings)) ||
           learnStretched(demand, sizes, findings) || (mayUnify && learnEqual(demand, {true, false}, sizes, findings));
  }
  const auto isFree = nobodyBounds(sizes);
  if (demand.isRoom) {
    const auto shares = sharesFor(demand.left, demand.right, isFree);
    if (!shares || shares->empty()) return false;
    for (const auto& [name, bounds] : *shares) {
      int64_t& most = findings.rooms.try_emplace(name, bounds.max).first->second;
      most = std::min(most, bounds.max);
    }
    return true;
  }
  const auto bounds = boundsFor(demand.left, demand.right, isFree);
  if (!bounds || bounds->empty()) return false;
  add(*bounds, demand.by, sizes, findings);
  return true;
}

}  // namespace svod
