#include "facts/steps.h"

#include <algorithm>

namespace svod {

AddressStep::AddressStep(int64_t constant) {
  if (constant != 0) terms_[{}] = {{}, constant};
}

bool AddressStep::isForward() const {
  return !terms_.empty() && std::ranges::all_of(terms_, [](const auto& entry) { return entry.second.times > 0; });
}

std::optional<int64_t> AddressStep::timesOf(const AddressStep& unit) const {
  if (terms_.empty() || terms_.size() != unit.terms_.size()) return std::nullopt;
  std::optional<int64_t> ratio;
  for (const auto& [ids, term] : terms_) {
    const auto of = unit.terms_.find(ids);
    if (of == unit.terms_.end() || term.times % of->second.times != 0) return std::nullopt;
    const int64_t times = term.times / of->second.times;
    if (times <= 0 || ratio.value_or(times) != times) return std::nullopt;
    ratio = times;
  }
  return ratio;
}

int64_t AddressStep::most() const {
  int64_t sum = 0;
  for (const auto& [ids, term] : terms_) {
    int64_t product = term.times;
    for (UOp f : term.factors)
      if (__builtin_mul_overflow(product, f.bounds().max, &product)) return INT64_MAX;
    if (__builtin_add_overflow(sum, product, &sum)) return INT64_MAX;
  }
  return sum;
}

bool AddressStep::add(std::vector<UOp> factors, int64_t a, int64_t b) {
  std::ranges::sort(factors, {}, &UOp::id);
  std::vector<uint32_t> ids;
  for (UOp f : factors) ids.push_back(f.id());
  Term& term = terms_.try_emplace(std::move(ids), Term{std::move(factors), 0}).first->second;
  return !__builtin_mul_overflow(a, b, &a) && !__builtin_add_overflow(term.times, a, &term.times);
}

std::optional<AddressStep> stepOf(UOp address, UOp range, const Linear& count) {
  const Linear form = linearOf(address);
  if (form.overflow || count.overflow) return std::nullopt;
  AddressStep step;
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
      if (!step.add(std::move(all), t.coef, of.coef)) return std::nullopt;
    }
    if (!step.add(std::move(factors), t.coef, count.constant)) return std::nullopt;
  }
  std::erase_if(step.terms_, [](const auto& product) { return product.second.times == 0; });
  return step;
}

std::optional<AddressStep> stepOf(UOp address, UOp range) {
  Linear one;
  one.add(1);
  return stepOf(address, range, one);
}

}  // namespace svod
