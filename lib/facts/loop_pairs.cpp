#include "facts/loop_pairs.h"

#include <algorithm>
#include <map>

#include "symbolic/linear.h"

namespace svod {

namespace {

// Whether a or b is used for anything but addresses of parameters.
bool countersAreValues(UOp sink, UOp a, UOp b) {
  std::vector<bool> seen;
  std::vector<UOp> stack{sink};
  while (!stack.empty()) {
    UOp n = stack.back();
    stack.pop_back();
    if (n.id() < seen.size() && seen[n.id()]) continue;
    if (n.id() >= seen.size()) seen.resize(n.id() + 1);
    seen[n.id()] = true;
    if (n == a || n == b) return true;
    bool closer = n.op() == Op::End || n.op() == Op::Reduce || n.op() == Op::Fill;
    for (UOp s : n.src()) {
      if (closer && s.op() == Op::Range) continue;
      if (n.op() == Op::Index && s != n.src(0)) continue;
      stack.push_back(s);
    }
  }
  return false;
}

// A sum: by the sorted ids of what only a run knows, what their product is multiplied with.
using Step = std::map<std::vector<uint32_t>, int64_t>;

bool addProduct(Step& step, const std::vector<UOp>& factors, int64_t a, int64_t b) {
  std::vector<uint32_t> ids;
  for (UOp f : factors) ids.push_back(f.id());
  std::ranges::sort(ids);
  int64_t& sum = step[ids];
  return !__builtin_mul_overflow(a, b, &a) && !__builtin_add_overflow(sum, a, &sum);
}

// How far an address moves with `count` steps of a counter; nothing where not all of its steps are equal.
std::optional<Step> stepOf(UOp address, UOp range, const Linear& count) {
  const Linear form = linearOf(address);
  if (form.overflow || count.overflow) return std::nullopt;
  Step step;
  for (const Term& t : form.terms) {
    if (!t.base.dependsOn(range)) continue;
    std::vector<UOp> factors;
    flattenFactors(t.base, factors);
    const auto at = std::ranges::find(factors, range);
    if (at == factors.end()) return std::nullopt;
    factors.erase(at);
    if (std::ranges::any_of(factors, [&](UOp f) { return f.dependsOn(range); })) return std::nullopt;
    for (const Term& of : count.terms) {
      std::vector<UOp> all = factors;
      flattenFactors(of.base, all);
      if (!addProduct(step, all, t.coef, of.coef)) return std::nullopt;
    }
    if (!addProduct(step, factors, t.coef, count.constant)) return std::nullopt;
  }
  std::erase_if(step, [](const auto& product) { return product.second == 0; });
  return step;
}

}  // namespace

bool walksAsOne(const KernelFacts& kernel, UOp a, UOp b) {
  if (countersAreValues(kernel.sink, a, b)) return false;
  Linear one;
  one.add(1);
  const Linear all = linearOf(b.src(0));
  for (const Access& access : kernel.accesses) {
    for (UOp n : toposort(access.address))
      if (n.op() == Op::Load && (n.dependsOn(a) || n.dependsOn(b))) return false;
    const std::optional<Step> outer = stepOf(access.address, a, one), inner = stepOf(access.address, b, all);
    if (!outer || outer != inner) return false;
  }
  return true;
}

}  // namespace svod
