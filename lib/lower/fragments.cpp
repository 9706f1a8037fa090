#include "lower/fragments.h"

#include <algorithm>
#include <bit>

namespace svod {

namespace {

/// Bits of a coordinate that are neighbouring bits of one range of lanes, or one bit that the element fixes.
struct Piece {
  UOp range = {};
  int first = 0, count = 1;  // bits of the range
  bool isSet = false;        // without a range
};

Piece pieceFor(const CoreForm& form, const Fragment& fragment, TileBit wanted, int element) {
  const auto found = std::ranges::find(fragment.bits, wanted);
  const int bit = static_cast<int>(found - fragment.bits.begin());
  if (bit >= fragment.laneBits) return {.isSet = (element >> (bit - fragment.laneBits) & 1) != 0};
  for (const TileRange& t : form.ranges)
    if (t.run.ofLane && bit >= t.run.first && bit < t.run.first + t.run.count) return {t.range, bit - t.run.first};
  return {};
}

// `count` bits of a coordinate, from bit `to` on, as the lane and the element have them.
UOp coordinate(Graph& g, const CoreForm& form, const Fragment& fragment, TileBit to, int count, int element) {
  UOp sum;
  int64_t fixed = 0;
  for (int i = 0; i < count;) {
    auto pieceAt = [&](int at) {
      return pieceFor(form, fragment, {to.dim, static_cast<uint8_t>(to.bit + at)}, element);
    };
    Piece piece = pieceAt(i);
    if (!piece.range) {
      fixed |= int64_t{piece.isSet} << i++;
      continue;
    }
    for (Piece next; i + piece.count < count; ++piece.count) {
      next = pieceAt(i + piece.count);
      if (next.range != piece.range || next.first != piece.first + piece.count) break;
    }
    UOp bits = g.alu(Op::Floordiv, {piece.range, g.index(int64_t{1} << piece.first)});
    bits = g.alu(Op::Floormod, {bits, g.index(int64_t{1} << piece.count)});
    bits = g.alu(Op::Mul, {bits, g.index(int64_t{1} << i)});
    sum = sum ? g.alu(Op::Add, {sum, bits}) : bits;
    i += piece.count;
  }
  return sum ? g.alu(Op::Add, {sum, g.index(fixed)}) : g.index(fixed);
}

}  // namespace

UOp fragmentElement(Graph& g, const CoreForm& form, const Fragment& fragment, UOp value, int element) {
  const int termBits = std::countr_zero(static_cast<unsigned>(form.core->k));
  std::vector<UOp> from{form.terms}, to{coordinate(g, form, fragment, {'k', 0}, termBits, element)};
  for (const TileRange& t : form.ranges) {
    const bool isOfFactor = std::ranges::find(fragment.bits, t.run.to) != fragment.bits.end();
    if (!isOfFactor) continue;
    from.push_back(t.range);
    to.push_back(coordinate(g, form, fragment, t.run.to, t.run.count, element));
  }
  return substitute(g, value, from, to);
}

}  // namespace svod
