#include "lower/tile_rests.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "facts/row_tiles.h"
#include "ir/ranges.h"
#include "lower/even_tiles.h"
#include "symbolic/linear.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int64_t kLongRow = 32;  // values of a row
constexpr int64_t kShortRow = 32;
constexpr int64_t kFewRows = 6;

bool contains(std::span<const UOp> list, UOp node) { return std::ranges::find(list, node) != list.end(); }

/// One of the nests: for `copies` it has `rows`, a range or the only row, which is `at` from where whole tiles would
/// begin, and for each loop of `inside` a range of its own. It runs where `known` holds, which is what the loop
/// `choice` is about. The whole one alone keeps sums unrolled.
struct Nest {
  UOp copies, rows;
  std::span<const UOp> inside;
  bool isWhole;
  UOp known, choice = {}, at = {};
};

/// Makes the nests of one kernel. Nests over the same ranges get the same ranges again, so that they still merge.
class RestSplitter {
 public:
  RestSplitter(Graph& g, UOp sink) : g_(g), nextRange_(nextRangeId(sink)) {}

  UOp run(UOp sink) {
    std::vector<UOp> src;
    for (UOp s : sink.src()) {
      const std::optional<RowTile> tile = s.op() == Op::End ? rowTileOf(s) : std::nullopt;
      src.push_back(tile ? nestsOf(s, *tile) : s);
    }
    return g_.withSrc(sink, src);
  }

 private:
  /// Together about twice the code of the first, less where one row is long: of 12 rows 12, 7, 4, 2 and 1, or 12, 3 and
  /// 1, or 12 and 1. Even tiles may have any number of rows.
  static std::vector<int64_t> sizesOf(UOp end, const RowTile& tile, bool areEven) {
    const int64_t rows = tile.copies.src(0).constInt(), length = lengthOfRow(end, tile);
    const int64_t eighths = length <= kLongRow ? 5 : length <= 2 * kLongRow ? 2 : 0;
    std::vector<int64_t> sizes;
    for (int64_t left = rows; left > 1; left = areEven ? left - 1 : left * eighths / 8) sizes.push_back(left);
    sizes.push_back(1);
    return sizes;
  }

  /// The values that are computed for one row, functions counted as the polynomials that they become, and those that
  /// are stored one by one. So are places of elements where memory says which, and what is loaded behind a gate there.
  static int64_t lengthOfRow(UOp end, const RowTile& tile) {
    constexpr int64_t kFunction = 16, kScattered = 2, kGated = 2;
    const auto copiesOf = [&](UOp n, bool lanes) {
      int64_t copies = 1;
      for (UOp r : n.ranges()) {
        const AxisType type = axisType(r);
        const bool isCopied = type == AxisType::Upcast || type == AxisType::Unroll;
        if (r != tile.copies && (isCopied || (lanes && type == AxisType::Vector))) copies *= r.src(0).constInt();
      }
      return copies;
    };
    int64_t length = 0;
    std::set<uint32_t> places;  // that loads are part of
    for (UOp n : toposort(end.src(0))) {
      if (n.op() == Op::Store && isScattered(n.src(0).src(1))) length += kScattered * copiesOf(n.src(0), true);
      const bool isPlace =
          n.dtype() == DType::Index && isElementwise(n.op()) &&
          std::ranges::any_of(n.src(), [&](UOp s) { return s.dtype() != DType::Index || places.contains(s.id()); });
      if (isPlace) places.insert(n.id());
      const bool isGated = n.op() == Op::Load && n.srcCount() > 2 && places.contains(n.src(0).src(1).id());
      if (isGated) length += kGated * copiesOf(n, false);
      if (!isElementwise(n.op()) || (n.dtype() == DType::Index && !isPlace) || !n.dependsOn(tile.copies)) continue;
      length += (has(n.op(), Transcend) ? kFunction : 1) * copiesOf(n, false);
    }
    return length;
  }

  /// Whether lanes are no neighbours.
  static bool isScattered(UOp address) {
    const Linear form = linearOf(address);
    return std::ranges::any_of(address.ranges(),
                               [&](UOp r) { return axisType(r) == AxisType::Vector && form.coefOf(r) != 1; });
  }

  UOp nestsOf(UOp end, const RowTile& tile) {
    std::vector<UOp> nests, outer;
    for (size_t i = 1; i <= tile.depth; ++i)
      if (staysLoop(end.src(i))) outer.push_back(end.src(i));
    const std::vector<UOp> ranges = rangesOfNests(end, tile);
    const bool isSmall = tile.copies.src(0).constInt() <= kFewRows && lengthOfRow(end, tile) <= kShortRow;
    even_ = isSmall ? evenTileOf(g_, end, tile) : std::nullopt;
    const std::vector<int64_t> sizes = sizesOf(end, tile, even_.has_value());
    for (size_t i = 0; i < sizes.size(); ++i)
      nests.push_back(nestOf(end, tile, ranges, sizes[i], i + 1 < sizes.size() ? sizes[i + 1] : 0));
    std::vector<UOp> src{g_.make(Op::Group, DType::Void, nests)};
    src.insert(src.end(), outer.begin(), outer.end());
    return g_.make(Op::End, DType::Void, src);
  }

  /// The nest for at most `rows` rows and more than `least`.
  UOp nestOf(UOp end, const RowTile& tile, std::span<const UOp> ranges, int64_t rows, int64_t least) {
    const bool isWhole = tile.copies.src(0).isConst(rows);
    Nest nest{tile.copies, g_.index(0), ranges, isWhole, isThere(tile, least)};
    if (!isWhole) nest.known = g_.alu(Op::And, {nest.known, g_.alu(Op::Not, {isThere(tile, rows)})});
    if (even_) {
      const UOp place = g_.alu(Op::Add, {g_.index(rows - 1), even_->shift});
      nest.known = g_.alu(Op::And, {nest.known, substitute(g_, tile.inside, {&tile.copies, 1}, {&place, 1})});
    }
    const UOp once = g_.where(nest.known, g_.index(1), g_.index(0));
    nest.choice = ownRange({once.id(), 0}, once, AxisType::Loop);
    if (rows > 1) nest.rows = ownRange({once.id(), tile.copies.id()}, g_.index(rows), AxisType::Upcast);
    nest.at = even_ ? g_.alu(Op::Add, {nest.rows, even_->shift}) : nest.rows;
    std::vector<UOp> src{copied(end.src(0), nest), nest.choice};
    for (size_t i = 1; i < end.srcCount(); ++i) {
      const bool isAround = i <= tile.depth && staysLoop(end.src(i));
      if (UOp r = ownOf(end.src(i), nest); !isAround && r.op() == Op::Range) src.push_back(r);
    }
    return g_.make(Op::End, DType::Void, src);
  }

  UOp isThere(const RowTile& tile, int64_t row) {
    UOp at = g_.index(row);
    if (even_) return g_.alu(Op::Lt, {at, even_->rows});
    return substitute(g_, tile.inside, {&tile.copies, 1}, {&at, 1});
  }

  UOp ownOf(UOp range, const Nest& nest) {
    if (range == nest.copies) return nest.rows;
    if (!nest.isWhole && axisType(range) == AxisType::Unroll)
      return ownRange({nest.choice.src(0).id(), range.id()}, range.src(0), AxisType::Reduce);
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
      if (n.op() == Op::Range) return n == nest.copies ? nest.at : ownOf(n, nest);
      return dependsOnAny(n, nest.inside) ? underKnown(n, src, nest) : g_.withSrc(n, src);
    });
  }

  /// A node of the nest, given what is known there. What it reads stays behind the choice of the nest.
  UOp underKnown(UOp n, std::span<const UOp> from, const Nest& nest) {
    std::vector<UOp> src(from.begin(), from.end());
    const auto learn = [&](UOp& of) { of = simplifyUnder(g_, of, nest.known); };
    switch (n.op()) {
      case Op::Index:
        // A single row takes so few instructions that the processor looks ahead by itself.
        if (src[0].op() == Op::Prefetch && nest.rows.isConst(0)) src[0] = src[0].src(0);
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
  std::optional<EvenTile> even_;  // of the nest at hand
  uint32_t nextRange_;
  std::map<std::pair<uint32_t, uint32_t>, UOp> ranges_;  // by what chooses the nest, and the range they stand for
};

}  // namespace

UOp splitTileRests(Graph& graph, UOp sink) { return RestSplitter(graph, sink).run(sink); }

}  // namespace svod
