#include "frontend/size_variables.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "support/integers.h"
#include "support/text.h"

namespace svod {

namespace {

int64_t clamped(__int128 x) { return static_cast<int64_t>(std::clamp<__int128>(x, INT64_MIN, INT64_MAX)); }

// The values of a variable v for which times * v + constant lies in `bounds`.
Interval solvedFor(Interval bounds, int64_t times, int64_t constant) {
  __int128 low = static_cast<__int128>(bounds.min) - constant, high = static_cast<__int128>(bounds.max) - constant;
  if (times < 0) std::tie(low, high) = std::pair(-high, -low);
  const __int128 step = times < 0 ? -static_cast<__int128>(times) : times;
  return {clamped(-floorDivide(-low, step)), clamped(floorDivide(high, step))};
}

Interval intersection(Interval a, Interval b) { return {std::max(a.min, b.min), std::min(a.max, b.max)}; }

int64_t commonFactor(const SizeForm& form) {
  int64_t common = 0;
  for (const auto& [name, times] : form.factors) common = std::gcd(common, times);
  return common;
}

// What makes sum(factors) + constant == 0 impossible whatever the sizes are, as a text.
std::string impossible(const SizeForm& zero) {
  SizeForm sizes = zero;
  sizes.constant = 0;
  return toText(sizes) + " = " + std::to_string(-zero.constant) + " has no solution in whole numbers";
}

std::string text(Interval bounds) { return "[" + std::to_string(bounds.min) + ", " + std::to_string(bounds.max) + "]"; }

}  // namespace

void SizeVariables::declare(const std::string& name, Interval bounds, Source source) {
  if (order_.try_emplace(name, order_.size()).second) stated_.try_emplace(name, Stated{bounds, source});
}

void SizeVariables::bound(const std::string& name, Interval bounds) {
  stated_.insert_or_assign(name, Stated{bounds, Source::Given});
}

void SizeVariables::prefer(const std::string& name, int64_t value) { preferred_.insert_or_assign(name, value); }

void SizeVariables::mention(const SizeForm& form) {
  for (const auto& [name, times] : form.factors) named_.insert(name);
}

bool SizeVariables::suggest(const std::string& name, Interval bounds) {
  if (isGiven(name) || !isFree(name)) return false;
  stated_.insert_or_assign(name, Stated{bounds, Source::Default});
  return true;
}

SizeForm SizeVariables::reduced(const SizeForm& form) const {
  SizeForm result = SizeForm::number(form.constant);
  for (const auto& [name, times] : form.factors) {
    auto known = solved_.find(name);
    const SizeForm part = known == solved_.end() ? SizeForm::variable(name) : known->second.form;
    // Factors stay small: every equation was checked when it was added.
    result = addMultiple(result, part, times).value_or(result);
  }
  return result;
}

std::optional<SizeForm> SizeVariables::difference(const SizeForm& left, const SizeForm& right) const {
  std::optional<SizeForm> zero = addMultiple(reduced(left), reduced(right), -1);
  if (!zero) return std::nullopt;
  const int64_t common = commonFactor(*zero);
  if (common == 0 || zero->constant % common != 0) return zero;
  for (auto& [name, times] : zero->factors) times /= common;
  zero->constant /= common;
  return zero;
}

void SizeVariables::substitute(const std::string& name, const SizeForm& form, const std::string& from) {
  for (auto& [other, solved] : solved_) {
    auto at = solved.form.factors.find(name);
    if (at == solved.form.factors.end()) continue;
    const int64_t times = at->second;
    solved.form.factors.erase(at);
    solved.form = addMultiple(solved.form, form, times).value_or(solved.form);
  }
  solved_.insert_or_assign(name, Solved{form, from});
}

namespace {

// name == the result, where `zero` == 0 and has the variable once.
SizeForm isolated(const SizeForm& zero, const std::string& name) {
  SizeForm rest = zero;
  const int64_t times = rest.factors[name];
  rest.factors.erase(name);
  return *addMultiple({}, rest, times > 0 ? -1 : 1);
}

}  // namespace

Status SizeVariables::equate(const SizeForm& left, const SizeForm& right, const std::string& from) {
  mention(left), mention(right);
  const std::optional<SizeForm> zero = difference(left, right);
  if (!zero) return fail(Diag::Usage, from + ": the numbers are too large", "sizes lie below 2^60");
  const std::string claim = from + ": ";
  if (zero->isNumber()) {
    if (zero->constant == 0) return {};
    std::string known;
    for (const SizeForm* side : {&left, &right})
      for (const auto& [name, times] : side->factors)
        if (auto at = solved_.find(name); at != solved_.end())
          known += (known.empty() ? "" : ", and ") +
                   ("'" + name + "' is " + toText(at->second.form) + " (" + at->second.from + ")");
    return fail(Diag::BindMismatch,
                claim + toText(left) + " is never " + toText(right) + (known.empty() ? "" : ": " + known),
                "leave out what contradicts the rest");
  }
  if (zero->constant % commonFactor(*zero) != 0)
    return fail(Diag::BindMismatch, claim + impossible(*zero), "give sizes that agree");
  // A name on the left, then one that is new, then the one declared last.
  auto rank = [&](const std::string& name) {
    auto at = order_.find(name);
    return std::tuple(left.factors.contains(name), at == order_.end(), at == order_.end() ? 0 : at->second, name);
  };
  const std::string* best = nullptr;
  for (const auto& [name, times] : zero->factors)
    if ((times == 1 || times == -1) && (!best || rank(name) > rank(*best))) best = &name;
  if (!best)
    return fail(Diag::BindMismatch, claim + toText(left) + " = " + toText(right) + " gives no variable by the others",
                "write each of them as a multiple of one new variable");
  substitute(*best, isolated(*zero, *best), from);
  return {};
}

std::optional<std::pair<std::string, SizeForm>> SizeVariables::unify(const SizeForm& left, const SizeForm& right) {
  const std::optional<SizeForm> zero = difference(left, right);
  if (!zero || zero->isNumber() || zero->constant % commonFactor(*zero) != 0) return std::nullopt;
  // Of the ways to say it, the one with the fewest differences: total = past + seq, not seq = total - past.
  auto rank = [&](const std::string& name) {
    const SizeForm rest = isolated(*zero, name);
    const auto negative = std::ranges::count_if(rest.factors, [](const auto& f) { return f.second < 0; });
    auto at = order_.find(name);
    return std::tuple(-negative, rest.constant >= 0, at == order_.end() ? SIZE_MAX : at->second, name);
  };
  const std::string* best = nullptr;
  for (const auto& [name, times] : zero->factors)
    if ((times == 1 || times == -1) && !isGiven(name) && (!best || rank(name) > rank(*best))) best = &name;
  if (!best) return std::nullopt;
  const SizeForm rest = isolated(*zero, *best);
  if (rest.isNumber() && rest.constant < 1) return std::nullopt;
  std::pair<std::string, SizeForm> result(*best, rest);
  substitute(result.first, rest, "the model");
  return result;
}

// What the bounds of a variable that has a form mean for the variables in it.
Status SizeVariables::derive(const std::string& name, const SizeForm& form, const Stated& stated) {
  const bool isGivenHere = stated.source == Source::Given;
  if (form.isNumber()) return {};  // whoever uses the number compares it
  if (form.factors.size() == 1) {
    const auto& [only, times] = *form.factors.begin();
    if (!isGivenHere && isGiven(only)) return {};
    const Interval values = solvedFor(stated.bounds, times, form.constant);
    auto [at, isNew] = derived_.try_emplace(only, values);
    const Interval both = intersection(at->second, values);
    if (both.min <= both.max) {
      at->second = both;
    } else if (isNew) {
      derived_.erase(at);
    }
    if (both.min <= both.max || !isGivenHere) return {};
    return fail(Diag::VariableBounds,
                "no value of '" + only + "' is left: '" + name + "' is " + toText(form) + " (" + reasonOf(name) +
                    ") and lies in " + text(stated.bounds),
                "widen its bounds, such as --var " + shellWord(name + "=MIN:MAX"));
  }
  __int128 low = form.constant, high = form.constant;
  for (const auto& [part, times] : form.factors) {
    const Interval b = boundsOf(part);
    low += static_cast<__int128>(times) * (times > 0 ? b.min : b.max);
    high += static_cast<__int128>(times) * (times > 0 ? b.max : b.min);
  }
  const bool isInside = low >= stated.bounds.min && high <= stated.bounds.max;
  if (isInside || !isGivenHere) return {};
  const Interval reached{clamped(low), clamped(high)};
  return fail(Diag::VariableBounds,
              "'" + name + "' is " + toText(form) + " (" + reasonOf(name) + ") and reaches " + text(reached) +
                  ", beyond its bounds " + text(stated.bounds),
              "tighten the variables in it with --var, or widen it: --var " +
                  shellWord(name + "=" + std::to_string(reached.min) + ":" + std::to_string(reached.max)));
}

Status SizeVariables::settle(std::optional<Interval> unstated) {
  derived_.clear();
  unstated_ = unstated.value_or(Interval{1, 1});
  Status all;
  auto check = [&](Status status) {
    if (!status && all) all = std::move(status);
  };
  for (const bool isGivenFirst : {true, false})
    for (const auto& [name, stated] : stated_)
      if (auto at = solved_.find(name); at != solved_.end() && at->second.form.factors.size() == 1 &&
                                        (stated.source == Source::Given) == isGivenFirst)
        check(derive(name, at->second.form, stated));
  std::set<std::string> free = named_;
  for (const auto& [name, at] : order_) free.insert(name);
  std::erase_if(free, [&](const std::string& name) { return !isFree(name); });
  for (const std::string& name : free) {
    const bool isBound = stated_.contains(name) || derived_.contains(name);
    if (!isBound && !unstated)
      check(fail(Diag::VariableBounds, "the new variable '" + name + "' has no bounds",
                 "give it some: --var " + shellWord(name + "=1:64")));
    if (!isBound) derived_.emplace(name, unstated_);
    auto follows = derived_.find(name);
    if (follows == derived_.end() || !stated_.contains(name)) continue;
    const Interval both = intersection(follows->second, stated_.at(name).bounds);
    if (both.min > both.max) derived_.erase(follows);
    if (both.min > both.max)
      check(fail(Diag::VariableBounds, "no value of '" + name + "' is left by the bounds of the variables",
                 "widen them with --var NAME=MIN:MAX, or leave out an equation"));
  }
  for (const auto& [name, stated] : stated_)
    if (auto at = solved_.find(name); at != solved_.end() && at->second.form.factors.size() > 1)
      check(derive(name, at->second.form, stated));
  return all;
}

int64_t SizeVariables::likelyOf(const std::string& name, int64_t usual) const {
  const Interval bounds = boundsOf(name);
  auto at = preferred_.find(name);
  int64_t value = at == preferred_.end() ? usual : at->second;
  if (at == preferred_.end())
    for (const auto& [other, known] : solved_)
      if (known.form.factors.size() == 1 && known.form.factors.begin()->first == name && preferred_.contains(other))
        value = solvedFor({preferred_.at(other), INT64_MAX}, std::abs(known.form.factors.begin()->second),
                          known.form.constant)
                    .min;
  return std::clamp(value, bounds.min, bounds.max);
}

bool SizeVariables::isGiven(const std::string& name) const {
  auto at = stated_.find(name);
  return at != stated_.end() && at->second.source == Source::Given;
}

Interval SizeVariables::boundsOf(const std::string& name) const {
  auto at = stated_.find(name);
  auto follows = derived_.find(name);
  if (follows == derived_.end()) return at == stated_.end() ? unstated_ : at->second.bounds;
  return at == stated_.end() ? follows->second : intersection(at->second.bounds, follows->second);
}

}  // namespace svod
