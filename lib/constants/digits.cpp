#include "constants/digits.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace svod {

namespace {

/// What every value of an index is a multiple of; 0 for 0.
int64_t divisorOf(UOp n) {
  if (n.isConst()) return std::abs(n.constInt());
  if (n.op() == Op::Min || n.op() == Op::Max || (n.op() == Op::Floormod && n.src(1).isConst()))
    return std::gcd(divisorOf(n.src(0)), divisorOf(n.src(1)));
  const Linear form = linearOf(n);
  if (form.overflow || (form.terms.size() == 1 && form.terms[0].base == n)) return 1;
  int64_t divisor = form.constant;
  for (const Term& t : form.terms) divisor = std::gcd(divisor, t.coef * divisorOf(t.base));
  return divisor;
}

int64_t divisorOf(const Term& t) { return t.coef * divisorOf(t.base); }

/// What can be added to every value of the term within the same multiple of `unit`: to those of a block that may be the
/// last one, and begin earlier for that, as to all others.
int64_t roomAbove(const Term& t, int64_t unit) {
  const auto roomOf = [&](int64_t divisor) { return std::gcd(divisor, unit) - 1; };
  if (t.base.op() == Op::Floormod && t.base.src(1).isConst() && t.coef * t.base.src(1).constInt() % unit == 0)
    return roomAbove({t.base.src(0), t.coef}, unit);
  if (t.base.op() != Op::Min || !t.base.src(1).isConst()) return roomOf(divisorOf(t));
  const int64_t last = t.coef * t.base.src(1).constInt();
  return std::min(roomOf(t.coef * divisorOf(t.base.src(0))), unit - 1 - last % unit);
}

/// The least part of a sum, its terms those of the largest divisors, between whose values the others have room: those
/// up to a multiple of a divisor that they and `unit` have in common. All of it where there is none.
Linear multiplesIn(const Linear& sum, int64_t unit) {
  std::vector<Term> terms = sum.terms;
  std::ranges::stable_sort(terms, std::greater<>(), [](const Term& t) { return divisorOf(t); });
  Linear block, others = sum;
  int64_t divisor = unit;
  for (const Term& t : terms) {
    block.add(t.base, t.coef), others.add(t.base, -t.coef);
    divisor = std::gcd(divisor, divisorOf(t));
    if (const Interval bounds = boundsOf(others); bounds.min >= 0 && bounds.max < divisor) return block;
  }
  return sum;
}

/// An address as multiples of a unit, the rest of what decides how many there are, and more that does not.
struct Division {
  Linear multiples;  // counts units
  UOp block;         // null for none
  Linear more;       // which the block has room for
};

Division divide(Graph& g, const Linear& address, int64_t unit) {
  Division d;
  const auto product = [&](const Term& t) { return g.make(Op::Mul, DType::Index, {t.base, g.index(t.coef)}); };
  d.more.constant = address.constant;
  for (const Term& t : address.terms) {
    if (t.coef % unit == 0)
      d.multiples.add(t.base, t.coef / unit);
    else if (divisorOf(t) % unit == 0)
      d.multiples.add(g.make(Op::Floordiv, DType::Index, {product(t), g.index(unit)}), 1);
    else
      d.more.add(t.base, t.coef);
  }
  if (const Interval bounds = boundsOf(d.more); bounds.min >= 0 && bounds.max < unit) return d;
  const auto decides = [&](const Term& t) {
    Linear others = d.more;
    others.add(t.base, -t.coef);
    const Interval bounds = boundsOf(others);
    return t.coef > 0 && t.base.bounds().min >= 0 && bounds.min >= 0 && bounds.max <= roomAbove(t, unit);
  };
  if (const auto block = std::ranges::find_if(d.more.terms, decides); block != d.more.terms.end()) {
    d.block = product(*block);
    d.more.terms.erase(block);
  } else {
    const Linear whole = multiplesIn(d.more, unit);
    d.block = build(g, whole);
    d.more.add(whole, -1);
  }
  return d;
}

}  // namespace

UOp placeOf(Graph& g, std::span<const Digit> digits, Linear address) {
  UOp place = g.index(0);
  const auto times = [&](UOp n, int64_t by) { return g.make(Op::Mul, DType::Index, {n, g.index(by)}); };
  for (size_t i = digits.size(); i-- > 0;) {
    const Digit& digit = digits[i];
    Division d = divide(g, address, digit.stride);
    UOp value = build(g, d.multiples);
    if (d.block) {
      const UOp blocks = g.make(Op::Floordiv, DType::Index, {d.block, g.index(digit.stride)});
      value = g.make(Op::Add, DType::Index, {value, blocks});
    }
    place = g.make(Op::Add, DType::Index, {place, times(value, digit.place)});
    address = d.more;
    if (value.bounds().max > digit.last / digit.stride) {
      UOp whole = times(build(g, d.multiples), digit.stride);
      if (d.block) whole = g.make(Op::Add, DType::Index, {whole, d.block});
      const UOp begin = g.make(Op::Min, DType::Index, {times(value, digit.stride), g.index(digit.last)});
      address.add(g.make(Op::Sub, DType::Index, {whole, begin}), 1);
    } else if (d.block) {
      address.add(g.make(Op::Floormod, DType::Index, {d.block, g.index(digit.stride)}), 1);
    }
  }
  return place;
}

}  // namespace svod
