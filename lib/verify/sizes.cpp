#include "verify/sizes.h"

#include <algorithm>
#include <unordered_map>

#include "ir/evaluate.h"

namespace svod {

namespace {

constexpr double kMostElements = 3e6;  // which the interpreter computes in some seconds
constexpr double kLongestRun = 1e10;   // elements: beyond it, it computes for an hour or more, or has not the memory

/// About how many elements the interpreter computes.
class Work {
 public:
  explicit Work(const Model& model) : nodes_(toposort(model.sink)) {}

  double at(const VariableValues& values) const {
    std::unordered_map<uint32_t, double> sizes;  // by node id
    auto sizeOf = [&](UOp dim) {
      if (dim.isConst()) return static_cast<double>(dim.constInt());
      auto [it, isNew] = sizes.try_emplace(dim.id(), 0);
      if (isNew) it->second = valueOf(dim, values);
      return it->second;
    };
    double total = 0;
    for (UOp n : nodes_) {
      double elements = 1;
      for (UOp dim : n.shape()) elements *= sizeOf(dim);
      for (UOp range : n.ranges()) elements *= sizeOf(range.src(0));
      total += elements;
    }
    return total;
  }

 private:
  static double valueOf(UOp dim, const VariableValues& values) {
    std::optional<Scalar> value = evaluate(dim, [&](UOp leaf) -> std::optional<Scalar> {
      if (leaf.op() != Op::Var) return Scalar::ofInt(leaf.dtype(), leaf.bounds().max);
      auto found = values.find(leaf.argAs<VarArg>().name);
      return Scalar::ofInt(leaf.dtype(), found == values.end() ? leaf.bounds().min : found->second);
    });
    return value ? static_cast<double>(std::max<int64_t>(value->asInt(), 0)) : 0;
  }

  std::vector<UOp> nodes_;
};

bool isPrime(int64_t v) {
  for (int64_t d = 2; d * d <= v; ++d)
    if (v % d == 0) return false;
  return v > 1;
}

/// The largest prime that is in the bounds and not taken; `most` where there is none.
int64_t primeBelow(int64_t min, int64_t most, const VariableValues& taken) {
  constexpr int64_t kFarthest = 2000;  // primes are closer to each other
  auto isTaken = [&](int64_t v) { return std::ranges::any_of(taken, [&](const auto& t) { return t.second == v; }); };
  for (int64_t v = most; v >= std::max(min, most - kFarthest); --v)
    if (isPrime(v) && !isTaken(v)) return v;
  return most;
}

/// Few elements show little of what can go wrong.
int runsFor(double elements) { return static_cast<int>(std::clamp(1e4 / std::max(elements, 1.0), 1.0, 16.0)); }

enum class Pick : uint8_t { Least, Likely, Middle, Greatest, Prime };

int64_t wanted(Pick pick, const VarArg& var) {
  if (pick == Pick::Least) return var.min;
  if (pick == Pick::Likely) return var.likely;
  return pick == Pick::Middle ? var.min + (var.max - var.min) / 2 : var.max;
}

/// Lowers a variable of two sizes until they are equal, where that helps.
void makeEqual(const EqualSizes& sizes, VariableValues& values) {
  constexpr int64_t kMostTried = 1 << 14;
  Model one;
  one.equalSizes = {sizes};
  const UOp sides[] = {sizes.a, sizes.b};
  for (UOp node : toposort(sides)) {
    if (checkEqualSizes(one, values)) return;
    if (node.op() != Op::Var) continue;
    const VarArg& var = node.argAs<VarArg>();
    int64_t& value = values.find(var.name)->second;
    const int64_t before = value, least = std::max(var.min, before - kMostTried);
    while (value > least && !checkEqualSizes(one, values)) --value;
    if (!checkEqualSizes(one, values)) value = before;
  }
}

/// A run in which sizes differ that the model takes as equal shows nothing.
void makeEqual(const Model& model, VariableValues& values) {
  constexpr int kMostRounds = 8;  // one size may equal another, which equals a third one
  for (int round = 0; round < kMostRounds && !checkEqualSizes(model, values); ++round)
    for (const EqualSizes& sizes : model.equalSizes) makeEqual(sizes, values);
}

/// The wanted values, as far as they are at most `reach` above the least ones: where room is short, it is the largest
/// variables that give way.
VariableValues valuesAt(const Model& model, Pick pick, int64_t reach) {
  VariableValues values;
  for (UOp node : model.variables) {
    const VarArg& var = node.argAs<VarArg>();
    const int64_t value = var.min + std::min(wanted(pick, var) - var.min, reach);
    values[std::string(var.name)] = pick == Pick::Prime ? primeBelow(var.min, value, values) : value;
  }
  makeEqual(model, values);
  return values;
}

/// How far the farthest value that is wanted lies above its least one.
int64_t farthest(const Model& model, Pick pick) {
  int64_t reach = 0;
  for (UOp node : model.variables)
    reach = std::max(reach, wanted(pick, node.argAs<VarArg>()) - node.argAs<VarArg>().min);
  return reach;
}

}  // namespace

std::vector<SizeChoice> chooseSizes(const Model& model) {
  const Work work(model);
  if (model.variables.empty()) {
    const double elements = work.at({});
    return elements > kLongestRun ? std::vector<SizeChoice>{} : std::vector<SizeChoice>{{{}, false, runsFor(elements)}};
  }
  std::vector<SizeChoice> choices;
  for (Pick pick : {Pick::Greatest, Pick::Least, Pick::Likely, Pick::Middle, Pick::Prime}) {
    const int64_t all = farthest(model, pick);
    int64_t reach = all;
    if (work.at(valuesAt(model, pick, all)) > kMostElements) {
      int64_t fits = 0;  // the least values are run in any case
      while (reach - fits > 1) {
        const int64_t middle = fits + (reach - fits) / 2;
        (work.at(valuesAt(model, pick, middle)) > kMostElements ? reach : fits) = middle;
      }
      reach = fits;
    }
    SizeChoice choice{valuesAt(model, pick, reach)};
    choice.isReduced = choice.values != valuesAt(model, pick, all);
    const double elements = work.at(choice.values);
    if (elements > kLongestRun) continue;
    choice.runs = runsFor(elements);
    auto isSame = [&](const SizeChoice& c) { return c.values == choice.values; };
    if (auto same = std::ranges::find_if(choices, isSame); same != choices.end())
      same->isReduced |= choice.isReduced;
    else
      choices.push_back(std::move(choice));
  }
  return choices;
}

std::string toText(const VariableValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text;
}

}  // namespace svod
