#include "facts/row_tiles.h"

#include <algorithm>

#include "ir/ranges.h"
#include "symbolic/linear.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

bool isFree(UOp expr) {
  return std::ranges::any_of(toposort(expr), [](UOp n) { return n.op() == Op::Var; });
}

/// Whether the comparison says that a counter lies below something free: it holds for the first values, if for any.
bool limits(UOp clause, UOp copies) {
  if ((clause.op() != Op::Lt && clause.op() != Op::Le) || clause.src(0).dtype() != DType::Index) return false;
  Linear difference = linearOf(clause.src(0));
  difference.add(linearOf(clause.src(1)), -1);
  if (difference.overflow || difference.coefOf(copies) < 1 || !isFree(clause)) return false;
  return std::ranges::none_of(difference.terms, [&](const Term& t) {
    const bool isOther = t.base != copies && t.base.dependsOn(copies);
    const bool isCopied = std::ranges::any_of(t.base.ranges(), [&](UOp r) { return r != copies && !staysLoop(r); });
    return isOther || isCopied;
  });
}

std::vector<UOp> storesOf(UOp body) {
  if (body.op() == Op::Store) return {body};
  if (body.op() != Op::Group) return {};
  const bool areStores = std::ranges::all_of(body.src(), [](UOp s) { return s.op() == Op::Store; });
  return areStores ? std::vector<UOp>(body.src().begin(), body.src().end()) : std::vector<UOp>();
}

/// The comparison that gates every store of a nest by the rows of a tile; null where there is none.
UOp limitOf(std::span<const UOp> stores, UOp copies) {
  UOp found;
  for (UOp store : stores) {
    UOp limit;
    if (store.srcCount() > 2)
      for (UOp clause : splitClauses(store.src(2)))
        if (limits(clause, copies)) limit = clause;
    if (!limit || (found && found != limit)) return {};
    found = limit;
  }
  return found;
}

/// Loops closed inside of `body` by what depends on `inner`, and these: each nest needs its own.
std::vector<UOp> rangesInside(UOp body, std::vector<UOp> inner) {
  const std::vector<UOp> nodes = toposort(body);
  for (size_t before = 0; before != inner.size();) {
    before = inner.size();
    for (UOp n : nodes) {
      if ((n.op() != Op::Reduce && n.op() != Op::Fill) || !dependsOnAny(n, inner)) continue;
      for (UOp r : n.src().subspan(1))
        if (staysLoop(r) && std::ranges::find(inner, r) == inner.end()) inner.push_back(r);
    }
  }
  return inner;
}

bool pays(UOp end, const RowTile& tile) {
  const std::vector<UOp> ranges = rangesOfNests(end, tile);
  bool sums = false;
  for (UOp n : toposort(end.src(0))) {
    if (n.op() == Op::Fill && dependsOnAny(n, ranges)) return false;
    if (n.op() != Op::Reduce || !n.dependsOn(tile.copies)) continue;
    for (UOp r : n.src().subspan(1)) {
      if (axisType(r) == AxisType::Core) return false;
      sums |= axisType(r) == AxisType::Reduce;
    }
  }
  return sums;
}

}  // namespace

bool staysLoop(UOp range) {
  const AxisType type = axisType(range);
  return type == AxisType::Loop || type == AxisType::Thread || type == AxisType::Reduce;
}

std::vector<UOp> rangesOfNests(UOp end, const RowTile& tile) {
  std::vector<UOp> inner{tile.copies};
  for (UOp r : end.src().subspan(1 + tile.depth))
    if (staysLoop(r)) inner.push_back(r);
  return rangesInside(end.src(0), std::move(inner));
}

std::optional<RowTile> rowTileOf(UOp end) {
  const std::vector<UOp> stores = storesOf(end.src(0));
  std::span<const UOp> ranges = end.src().subspan(1);
  for (UOp r : ranges) {
    if (axisType(r) != AxisType::Upcast || stores.empty()) continue;
    RowTile tile{r, limitOf(stores, r)};
    if (!tile.inside) continue;
    for (size_t i = 0; i < ranges.size(); ++i)
      if (tile.inside.dependsOn(ranges[i]) && ranges[i] != r) tile.depth = i + 1;
    if (pays(end, tile)) return tile;
  }
  return std::nullopt;
}

}  // namespace svod
