#include "linearize/terms.h"

#include <algorithm>
#include <set>

namespace svod {

namespace {

// Whether `n` adds products to what `accumulator` holds: appends them, the last first.
bool addsUp(UOp n, UOp accumulator, std::vector<Addend>& terms) {
  for (;;) {
    if (n.op() == Op::Load) return accumulator.op() == Op::Buffer && storageOf(n.src(0)) == accumulator;
    const bool isFused = n.op() == Op::Mulacc || n.op() == Op::Dot;
    const size_t product = n.op() == Op::Add && n.src(0).op() == Op::Mul ? 0 : 1;
    if (!isFused && (n.op() != Op::Add || n.src(product).op() != Op::Mul)) return false;
    UOp factors = isFused ? n : n.src(product);
    terms.push_back({n, {factors.src(0), factors.src(1)}});
    n = isFused ? n.src(2) : n.src(1 - product);
  }
}

}  // namespace

std::vector<std::vector<Addend>> termsOf(std::span<const UOp> stores) {
  std::vector<std::vector<Addend>> all;
  for (UOp store : stores) {
    std::vector<Addend> terms;
    if (!addsUp(store.src(1), storageOf(store.src(0)), terms)) continue;
    all.resize(std::max(all.size(), terms.size()));
    for (size_t term = 0; term < terms.size(); ++term) all[term].push_back(terms[terms.size() - 1 - term]);
  }
  return all;
}

size_t factorOfFewest(std::span<const Addend> terms) {
  std::set<uint32_t> values[2];
  for (const Addend& t : terms)
    for (size_t factor : {0, 1}) values[factor].insert(t.factors[factor].id());
  return values[0].size() >= values[1].size() ? 0 : 1;
}

}  // namespace svod
