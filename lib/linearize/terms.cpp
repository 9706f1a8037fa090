#include "linearize/terms.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <set>

namespace svod {

namespace {

using Sum = std::vector<Addend>;  // the first term first

// The product that `n` adds to another value, and that value.
std::optional<std::pair<Addend, UOp>> addendOf(UOp n) {
  const bool isFused = n.op() == Op::Mulacc || n.op() == Op::Dot;
  if (isFused) return std::pair(Addend{n, {n.src(0), n.src(1)}}, n.src(2));
  if (n.op() != Op::Add) return std::nullopt;
  const size_t product = n.src(1).op() == Op::Mul ? 1 : 0;
  const UOp factors = n.src(product);
  if (factors.op() != Op::Mul) return std::nullopt;
  return std::pair(Addend{n, {factors.src(0), factors.src(1)}}, n.src(1 - product));
}

// The terms that end in `n`, and the value that the first of them is added to, which is none where that is a product.
std::pair<Sum, UOp> sumEndingIn(UOp n) {
  Sum terms;
  for (auto addend = addendOf(n); addend; addend = addendOf(n)) {
    terms.push_back(addend->first);
    n = addend->second;
  }
  const bool isProduct = !terms.empty() && n.op() == Op::Mul;
  if (isProduct) terms.push_back({n, {n.src(0), n.src(1)}});
  std::ranges::reverse(terms);
  return {std::move(terms), isProduct ? UOp() : n};
}

bool isAccumulator(UOp from, UOp store) {
  const UOp buffer = storageOf(store.src(0));
  return from && from.op() == Op::Load && buffer.op() == Op::Buffer && storageOf(from.src(0)) == buffer;
}

bool readsMemory(const Addend& term) {
  return std::ranges::any_of(term.factors, [](UOp n) {
    while (n.op() == Op::Cast || n.op() == Op::Stack) n = n.src(0);
    return n.op() == Op::Load;
  });
}

// By sum: the turns of its terms, where an element that several sums read has one turn. None where each reads elements
// in terms of one number only, and where two read them in opposite orders.
std::optional<std::vector<std::vector<size_t>>> turnsOfElements(std::span<const Sum> sums) {
  Sum all;
  for (const Sum& sum : sums) all.insert(all.end(), sum.begin(), sum.end());
  const size_t side = factorOfFewest(all);
  struct Element {
    std::set<uint32_t> next;
    size_t before = 0, turn = 1;
  };
  std::map<uint32_t, Element> elements;
  const auto elementOf = [&](const Addend& term) {  // none of what is outside of a picture
    UOp n = term.factors[side];
    while (n.op() == Op::Stack) n = n.src(0);
    return n.op() == Op::Const ? std::nullopt : std::optional(term.factors[side].id());
  };
  for (const Sum& sum : sums) {
    std::optional<uint32_t> last;
    for (const Addend& term : sum) {
      const auto id = elementOf(term);
      if (!id) continue;
      elements[*id];
      if (last && elements[*last].next.insert(*id).second) ++elements[*id].before;
      last = id;
    }
  }
  std::queue<uint32_t> ready;
  for (const auto& [id, element] : elements)
    if (element.before == 0) ready.push(id);
  size_t done = 0;
  for (; !ready.empty(); ready.pop(), ++done) {
    const Element& element = elements[ready.front()];
    for (uint32_t id : element.next) {
      elements[id].turn = std::max(elements[id].turn, element.turn + 1);
      if (--elements[id].before == 0) ready.push(id);
    }
  }
  if (done < elements.size()) return std::nullopt;
  bool areWindows = false;
  std::vector<std::vector<size_t>> turns(sums.size());
  for (size_t i = 0; i < sums.size(); ++i)
    for (const Addend& term : sums[i]) {
      const auto id = elementOf(term);
      const size_t before = turns[i].empty() ? 1 : turns[i].back();
      turns[i].push_back(id ? elements[*id].turn : before);
      areWindows |= id && turns[i].back() != turns[i].size();
    }
  return areWindows ? std::optional(turns) : std::nullopt;
}

}  // namespace

std::map<size_t, std::vector<Addend>> turnsOfTerms(std::span<const UOp> items) {
  std::map<size_t, std::vector<Addend>> turns;
  std::set<uint32_t> inside, known;  // ids of items, and of those that other sums go on from
  for (UOp n : items) inside.insert(n.id());
  for (UOp n : items) {
    if (n.op() != Op::Store) continue;
    const auto [terms, from] = sumEndingIn(n.src(1));
    if (!isAccumulator(from, n)) continue;
    for (size_t t = 0; t < terms.size(); ++t) turns[t + 1].push_back(terms[t]), known.insert(terms[t].sum.id());
  }
  for (UOp n : items)
    if (const auto addend = addendOf(n)) known.insert(addend->second.id());
  std::vector<Sum> sums;
  for (UOp n : items) {
    if (known.contains(n.id())) continue;
    Sum terms = sumEndingIn(n).first;
    const auto isInside = [&](const Addend& term) { return inside.contains(term.sum.id()) && readsMemory(term); };
    if (terms.size() >= 2 && std::ranges::all_of(terms, isInside)) sums.push_back(std::move(terms));
  }
  if (const auto windows = turnsOfElements(sums))
    for (size_t i = 0; i < sums.size(); ++i)
      for (size_t t = 0; t < sums[i].size(); ++t) turns[(*windows)[i][t]].push_back(sums[i][t]);
  return turns;
}

size_t factorOfFewest(std::span<const Addend> terms) {
  std::set<uint32_t> values[2];
  for (const Addend& t : terms)
    for (size_t factor : {0, 1}) values[factor].insert(t.factors[factor].id());
  return values[0].size() >= values[1].size() ? 0 : 1;
}

}  // namespace svod
