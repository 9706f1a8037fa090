#include "lower/fragments.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ir/multiple_of.h"
#include "lower/matrix_loads.h"
#include "symbolic/symbolic.h"

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

/// Factor `value` (a or b of the form) at the place that `fragment` gives to `element` of the lane that runs: a value
/// that depends on the lanes, but on no other range of the tile.
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

/// A fragment that lies in local memory as rows of 8 elements; null where it does not.
UOp loadedMatrices(Graph& g, const CoreForm& form, const std::optional<MatrixLoad>& load, UOp factor,
                   const std::function<UOp(UOp)>& expanded) {
  const bool isBare = factor.op() == Op::Load && factor.srcCount() == 1 && storageOf(factor.src(0)).op() == Op::Fill;
  if (!load || !isBare) return {};
  UOp first;
  for (int e = 0; e < load->rows.elements(); ++e) {
    UOp address = expanded(fragmentElement(g, form, load->rows, factor, e)).src(0);
    if (!address.isScalar() || storageOf(address).argAs<SlotArg>().space != Space::Local) return {};
    UOp at = simplify(g, address.src(1));
    if (e == 0) first = g.indexInto(address.src(0), {&at, 1});
    if (!simplify(g, g.alu(Op::Sub, {at, first.src(1)})).isConst(e)) return {};
  }
  if (multipleOf(first.src(1)) % load->rows.elements() != 0) return {};
  return g.make(Op::Gpu, DType::U32, {first}, NameArg{load->name});
}

}  // namespace

UOp fragmentOf(Graph& g, const CoreForm& form, const Fragment& layout, UOp factor, bool loadsMatrices,
               const std::function<UOp(UOp)>& expanded) {
  for (bool isTransposed : {false, true}) {
    if (!loadsMatrices) break;
    if (UOp words = loadedMatrices(g, form, matrixLoadOf(*form.core, layout, isTransposed), factor, expanded))
      return words;
  }
  std::vector<UOp> elements;
  for (int e = 0; e < layout.elements(); ++e) elements.push_back(expanded(fragmentElement(g, form, layout, factor, e)));
  return g.make(Op::Stack, factor.dtype(), elements);
}

}  // namespace svod
