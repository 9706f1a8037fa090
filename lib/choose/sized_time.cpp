#include "choose/sized_time.h"

#include <algorithm>
#include <cmath>

#include "cost/kernel_cost.h"
#include "facts/row_tiles.h"
#include "ir/ranges.h"
#include "opts/reloop.h"
#include "support/integers.h"
#include "symbolic/linear.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

/// A tile of `rows` rows of an axis, all of which but the last are whole.
struct TiledRows {
  UOp copies, counter;  // of a tile, and of tiles
  int64_t rows, all;
};

/// Nothing where the kernel is more than one nest, or its rows are more than one axis.
std::optional<TiledRows> tiledRows(Graph& g, UOp sink, const SizePoints& points, std::span<const int64_t> sizes) {
  if (sink.srcCount() != 1 || sink.src(0).op() != Op::End) return std::nullopt;
  const std::optional<RowTile> tile = rowTileOf(sink.src(0));
  if (!tile) return std::nullopt;
  Linear difference = linearOf(tile->inside.src(0));
  difference.add(linearOf(tile->inside.src(1)), -1);
  const int64_t rows = tile->copies.src(0).constInt();
  TiledRows found{tile->copies, {}, rows, 0};
  for (const Term& t : difference.terms) {
    if (t.base.op() != Op::Range || t.base == tile->copies) continue;
    if (found.counter || t.coef != rows * difference.coefOf(tile->copies)) return std::nullopt;
    found.counter = t.base;
  }
  if (!found.counter || difference.coefOf(found.copies) != 1) return std::nullopt;
  difference.add(found.copies, -1);
  difference.add(found.counter, -rows);
  const UOp below = simplify(g, points.at(g, build(g, difference), sizes));
  if (!below.isConst()) return std::nullopt;
  found.all = -below.constInt() + (tile->inside.op() == Op::Le ? 1 : 0);
  return found.all > 0 ? std::optional(found) : std::nullopt;
}

/// The rest of one row of a tile looks ahead nowhere.
UOp withoutPrefetches(Graph& g, UOp sink) {
  return transform(
      g, sink, [&](UOp n, std::span<const UOp> src) { return n.op() == Op::Prefetch ? src[0] : g.withSrc(n, src); });
}

double priceOf(UOp sink, const Caps& caps) {
  const KernelFacts kernel(sink);
  const double far = timeOf(kernel, caps).shared;
  if (caps.constants.empty()) return far;
  Caps near = caps;
  near.areConstantsNear = true;
  return std::sqrt(far * timeOf(kernel, near).shared);
}

}  // namespace

UOp kernelAt(Graph& graph, UOp sink, const SizePoints& points, std::span<const int64_t> sizes, const Caps& caps) {
  return dropUnitRanges(graph, simplifyKernel(graph, points.at(graph, sink, sizes), caps.numerics));
}

double timeAt(Graph& graph, UOp sink, const SizePoints& points, std::span<const int64_t> sizes, const Caps& caps) {
  const std::optional<TiledRows> tiles = caps.workgroups ? std::nullopt : tiledRows(graph, sink, points, sizes);
  if (!tiles || tiles->all % tiles->rows == 0) return priceOf(kernelAt(graph, sink, points, sizes, caps), caps);
  const auto timeOfTiles = [&](int64_t count, int64_t rows) {
    const auto resized = [&](UOp range, int64_t extent) {
      return graph.make(Op::Range, DType::Index, {graph.index(extent)}, range.arg());
    };
    const std::vector<UOp> from{tiles->counter, tiles->copies};
    const std::vector<UOp> to{resized(tiles->counter, count), resized(tiles->copies, rows)};
    const UOp tiled = substitute(graph, sink, from, to);
    return priceOf(kernelAt(graph, rows == 1 ? withoutPrefetches(graph, tiled) : tiled, points, sizes, caps), caps);
  };
  const int64_t whole = tiles->all / tiles->rows;
  const double rest = timeOfTiles(1, tiles->all % tiles->rows);
  if (whole == 0) return rest;
  // The copy of an operand that all tiles read is in both prices.
  const bool hasCopy = std::ranges::any_of(toposort(sink), [](UOp n) { return n.op() == Op::Fill; });
  const double shared = hasCopy ? 2 * timeOfTiles(1, tiles->rows) - timeOfTiles(2, tiles->rows) : 0;
  return timeOfTiles(whole, tiles->rows) + rest - std::clamp(shared, 0.0, rest);
}

}  // namespace svod
