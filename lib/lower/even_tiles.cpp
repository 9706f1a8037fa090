#include "lower/even_tiles.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "ir/likely.h"
#include "ir/ranges.h"
#include "symbolic/linear.h"

namespace svod {

namespace {

constexpr int64_t kFewTiles = 8;

bool isCounted(const Term& t) { return !t.base.ranges().empty(); }

bool isSum(UOp n) {
  const bool adds = n.op() == Op::Add || n.op() == Op::Sub || n.op() == Op::Neg || n.op() == Op::Mul;
  return n.dtype() == DType::Index && (adds || n.op() == Op::Shl);
}

/// Finds out whether a nest knows the rows of a tile by their number alone, which is `before` and the copy.
class RowUses {
 public:
  RowUses(UOp copies, const Linear& before) : before_(before), copies_(copies), rows_{copies} {
    for (const Term& t : before.terms)
      for (UOp r : t.base.ranges()) rows_.push_back(r);
  }

  bool areNumbers(UOp end) const {
    return std::ranges::all_of(toposort(end.src(0)), [&](UOp user) {
      if (user.op() == Op::Fill && dependsOnAny(user, std::span(rows_).subspan(1))) return false;
      if (isSum(user) || isDigit(user)) return true;  // what uses the sum is asked
      return std::ranges::all_of(user.src(), [&](UOp s) { return s.dtype() != DType::Index || isNumber(s); });
    });
  }

 private:
  bool isNumber(UOp index) const {
    const Linear form = linearOf(index);
    const int64_t rows = form.coefOf(copies_);
    return !form.overflow &&
           std::ranges::all_of(before_.terms, [&](const Term& t) { return form.coefOf(t.base) == rows * t.coef; }) &&
           std::ranges::all_of(form.terms, [&](const Term& t) { return t.base == copies_ || isOther(t.base); });
  }

  /// Whether a term of a sum is no row, or has operands that are asked for.
  bool isOther(UOp base) const {
    const bool isAsked = base.op() != Op::Range && !isSum(base);
    return isDigit(base) || isAsked || !dependsOnAny(base, rows_);
  }

  /// Where one loop counts tiles of rows and other things: either of the two.
  bool isDigit(UOp n) const {
    return std::ranges::any_of(before_.terms, [&](const Term& t) {
      const bool isQuotient = n.op() == Op::Floordiv || n.op() == Op::Cdiv;
      return n == t.base || (isQuotient && t.base.srcCount() == 2 && std::ranges::equal(n.src(), t.base.src()));
    });
  }

  const Linear& before_;
  UOp copies_;
  std::vector<UOp> rows_;  // the copies, and what counts tiles
};

EvenTile evenTile(Graph& g, const Linear& before, UOp all, int64_t rows) {
  Linear number;
  for (const Term& t : before.terms) number.add(t.base, t.coef / rows);
  const auto alu = [&](Op op, UOp a, UOp b) { return g.alu(op, {a, b}); };
  const UOp at = build(g, number);
  const UOp count = alu(Op::Cdiv, alu(Op::Add, all, g.index(rows - 1)), g.index(rows));
  const UOp least = alu(Op::Cdiv, all, count), more = alu(Op::Cmod, all, count);  // tiles that have one row more
  const UOp isMore = alu(Op::Lt, at, more);
  const UOp start = alu(Op::Add, alu(Op::Mul, at, least), g.where(isMore, at, more));
  return {alu(Op::Sub, start, build(g, before)), alu(Op::Add, least, g.where(isMore, g.index(1), g.index(0)))};
}

}  // namespace

std::optional<EvenTile> evenTileOf(Graph& graph, UOp end, const RowTile& tile) {
  const int64_t rows = tile.copies.src(0).constInt();
  Linear before = linearOf(tile.inside.src(0)), limit;  // rows before the tile, and all of them
  before.add(linearOf(tile.inside.src(1)), -1);
  before.add(tile.copies, -1);
  for (const Term& t : before.terms)
    if (!isCounted(t)) limit.add(t.base, -t.coef);
  limit.add(-before.constant + (tile.inside.op() == Op::Le ? 1 : 0));
  std::erase_if(before.terms, std::not_fn(isCounted));
  before.constant = 0;
  if (before.overflow || limit.overflow || before.coefOf(tile.copies) != 0 || gcdOfTerms(before) % rows != 0)
    return std::nullopt;
  const UOp all = build(graph, limit);
  const bool areFew = all.bounds().min >= 1 && likelySize(all) <= kFewTiles * rows;
  if (!areFew || !RowUses(tile.copies, before).areNumbers(end)) return std::nullopt;
  return evenTile(graph, before, all, rows);
}

}  // namespace svod
