#include "lower/tile_rests.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/ranges.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int64_t kLongRow = 64;  // values of a row

/// Whether it stays a loop, and needs a range of its own in each nest.
bool isLoopType(UOp range) {
  const AxisType type = axisType(range);
  return type == AxisType::Loop || type == AxisType::Thread || type == AxisType::Reduce;
}

bool isFree(UOp expr) {
  return std::ranges::any_of(toposort(expr), [](UOp n) { return n.op() == Op::Var; });
}

bool contains(std::span<const UOp> list, UOp node) { return std::ranges::find(list, node) != list.end(); }
bool dependsOnAny(UOp node, std::span<const UOp> ranges) {
  return std::ranges::any_of(node.ranges(), [&](UOp r) { return contains(ranges, r); });
}

/// A register tile of which `copies` are the rows: those for which `inside`, a comparison, holds are there. Of the
/// loops of its nest the first `depth` stand around the choice of a tile, the others are in each.
struct Tile {
  UOp copies, inside;
  size_t depth = 0;
};

/// One of the nests: for `copies` it has `rows`, a range or the only row, for each loop of `inside` a range of its own.
/// It runs where `known` holds, which is what the loop `choice` is about.
struct Nest {
  UOp copies, rows;
  std::span<const UOp> inside;
  UOp known, choice = {};
};

/// Whether the comparison says that a counter lies below something free: it holds for the first values, if for any.
bool limits(UOp clause, UOp copies) {
  if ((clause.op() != Op::Lt && clause.op() != Op::Le) || clause.src(0).dtype() != DType::Index) return false;
  Linear difference = linearOf(clause.src(0));
  difference.add(linearOf(clause.src(1)), -1);
  if (difference.overflow || difference.coefOf(copies) < 1 || !isFree(clause)) return false;
  return std::ranges::none_of(difference.terms, [&](const Term& t) {
    const bool isOther = t.base != copies && t.base.dependsOn(copies);
    const bool isCopied = std::ranges::any_of(t.base.ranges(), [&](UOp r) { return r != copies && !isLoopType(r); });
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
        if (isLoopType(r) && !contains(inner, r)) inner.push_back(r);
    }
  }
  return inner;
}

/// Makes the nests of one kernel. Nests over the same ranges get the same ranges again, so that they still merge.
class RestSplitter {
 public:
  RestSplitter(Graph& g, UOp sink) : g_(g), nextRange_(nextRangeId(sink)) {}

  UOp run(UOp sink) {
    std::vector<UOp> src;
    for (UOp s : sink.src()) {
      const std::optional<Tile> tile = s.op() == Op::End ? tileOf(s) : std::nullopt;
      src.push_back(tile ? nestsOf(s, *tile) : s);
    }
    return g_.withSrc(sink, src);
  }

 private:
  std::optional<Tile> tileOf(UOp end) const {
    const std::vector<UOp> stores = storesOf(end.src(0));
    std::span<const UOp> ranges = end.src().subspan(1);
    for (UOp r : ranges) {
      if (axisType(r) != AxisType::Upcast || stores.empty()) continue;
      Tile tile{r, limitOf(stores, r)};
      if (!tile.inside) continue;
      for (size_t i = 0; i < ranges.size(); ++i)
        if (tile.inside.dependsOn(ranges[i]) && ranges[i] != r) tile.depth = i + 1;
      if (pays(end, tile)) return tile;
    }
    return std::nullopt;
  }

  /// The loops that each nest has for itself, and the rows.
  static std::vector<UOp> inside(UOp end, const Tile& tile) {
    std::vector<UOp> inner{tile.copies};
    for (UOp r : end.src().subspan(1 + tile.depth))
      if (isLoopType(r)) inner.push_back(r);
    return rangesInside(end.src(0), std::move(inner));
  }

  /// Rows of nothing but loads and stores take as long where some are not stored, and local buffers stay one.
  static bool pays(UOp end, const Tile& tile) {
    const std::vector<UOp> ranges = inside(end, tile);
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

  /// Together about twice the code of the first, less where one row is long: of 12 rows 12, 7, 4, 2 and 1, or 12, 3 and
  /// 1, or 12 and 1.
  static std::vector<int64_t> sizesOf(int64_t rows, int64_t length) {
    const int64_t eighths = length <= kLongRow ? 5 : length <= 2 * kLongRow ? 2 : 0;
    std::vector<int64_t> sizes;
    for (int64_t left = rows; left > 1; left = left * eighths / 8) sizes.push_back(left);
    sizes.push_back(1);
    return sizes;
  }

  /// The values that are computed for one row, functions counted as the polynomials that they become.
  static int64_t lengthOfRow(UOp end, const Tile& tile) {
    constexpr int64_t kFunction = 16;
    int64_t length = 0;
    for (UOp n : toposort(end.src(0))) {
      if (!isElementwise(n.op()) || n.dtype() == DType::Index || !n.dependsOn(tile.copies)) continue;
      int64_t values = has(n.op(), Transcend) ? kFunction : 1;
      for (UOp r : n.ranges())
        if (r != tile.copies && (axisType(r) == AxisType::Upcast || axisType(r) == AxisType::Unroll))
          values *= r.src(0).constInt();
      length += values;
    }
    return length;
  }

  UOp nestsOf(UOp end, const Tile& tile) {
    std::vector<UOp> nests, outer;
    for (size_t i = 1; i <= tile.depth; ++i)
      if (isLoopType(end.src(i))) outer.push_back(end.src(i));
    const std::vector<UOp> ranges = inside(end, tile);
    const std::vector<int64_t> sizes = sizesOf(tile.copies.src(0).constInt(), lengthOfRow(end, tile));
    for (size_t i = 0; i < sizes.size(); ++i)
      nests.push_back(nestOf(end, tile, ranges, sizes[i], i + 1 < sizes.size() ? sizes[i + 1] : 0));
    std::vector<UOp> src{g_.make(Op::Group, DType::Void, nests)};
    src.insert(src.end(), outer.begin(), outer.end());
    return g_.make(Op::End, DType::Void, src);
  }

  /// The nest for at most `rows` rows and more than `least`.
  UOp nestOf(UOp end, const Tile& tile, std::span<const UOp> ranges, int64_t rows, int64_t least) {
    Nest nest{tile.copies, g_.index(0), ranges, isThere(tile, least)};
    const bool isWhole = tile.copies.src(0).isConst(rows);
    if (!isWhole) nest.known = g_.alu(Op::And, {nest.known, g_.alu(Op::Not, {isThere(tile, rows)})});
    const UOp once = g_.where(nest.known, g_.index(1), g_.index(0));
    nest.choice = ownRange({once.id(), 0}, once, AxisType::Loop);
    if (rows > 1) nest.rows = ownRange({once.id(), tile.copies.id()}, g_.index(rows), AxisType::Upcast);
    std::vector<UOp> src{copied(end.src(0), nest), nest.choice};
    for (size_t i = 1; i < end.srcCount(); ++i) {
      const bool isAround = i <= tile.depth && isLoopType(end.src(i));
      if (UOp r = ownOf(end.src(i), nest); !isAround && r.op() == Op::Range) src.push_back(r);
    }
    return g_.make(Op::End, DType::Void, src);
  }

  UOp isThere(const Tile& tile, int64_t row) {
    UOp at = g_.index(row);
    return substitute(g_, tile.inside, {&tile.copies, 1}, {&at, 1});
  }

  UOp ownOf(UOp range, const Nest& nest) {
    if (range == nest.copies) return nest.rows;
    if (!contains(nest.inside, range)) return range;
    const UOp extent = copied(range.src(0), nest);  // it may count by the loop around it
    return ownRange({nest.choice.src(0).id(), range.id()}, extent, axisType(range));
  }
  UOp ownRange(std::pair<uint32_t, uint32_t> key, UOp extent, AxisType type) {
    UOp& range = ranges_[key];
    if (!range) range = g_.range(extent, nextRange_++, type);
    return range;
  }

  UOp copied(UOp body, const Nest& nest) {
    return transform(g_, body, [&](UOp n, std::span<const UOp> src) {
      if (n.op() == Op::Range) return ownOf(n, nest);
      return dependsOnAny(n, nest.inside) ? underKnown(n, src, nest) : g_.withSrc(n, src);
    });
  }

  /// A node of the nest, given what is known there. What it reads stays behind the choice of the nest.
  UOp underKnown(UOp n, std::span<const UOp> from, const Nest& nest) {
    std::vector<UOp> src(from.begin(), from.end());
    const auto learn = [&](UOp& of) { of = simplifyUnder(g_, of, nest.known); };
    switch (n.op()) {
      case Op::Index:
        src[0] = behind(src[0], nest.choice);
        std::ranges::for_each(std::span(src).subspan(1), learn);
        break;
      case Op::Load:
      case Op::Store:
        if (src.size() > 2) learn(src[2]);
        if (src.size() > 2 && src[2].isConst(1)) src.resize(n.op() == Op::Load ? 1 : 2);
        break;
      case Op::Where: learn(src[0]); break;
      default: break;
    }
    return g_.withSrc(n, src);
  }

  UOp behind(UOp storage, UOp choice) {
    if (storage.op() == Op::Prefetch) return g_.withSrc(storage, std::vector<UOp>{behind(storage.src(0), choice)});
    return g_.make(Op::After, storage.dtype(), {storage, choice});
  }

  Graph& g_;
  uint32_t nextRange_;
  std::map<std::pair<uint32_t, uint32_t>, UOp> ranges_;  // by what chooses the nest, and the range they stand for
};

}  // namespace

UOp splitTileRests(Graph& graph, UOp sink) { return RestSplitter(graph, sink).run(sink); }

}  // namespace svod
