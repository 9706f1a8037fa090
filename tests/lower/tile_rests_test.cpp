#include "lower/tile_rests.h"

#include "rest_kernels.h"

using namespace svod;

namespace {

constexpr int64_t kColumns = 12, kTerms = 5;

/// out[m,n] = bias[n] + sum over k of a[m,k] * b[k,n], and where asked for the largest a[m,k] beside it, or `sines` of
/// the sum. Buffers end with the last row.
UOp buildRows(Graph& g, UOp rows, bool hasMax, int sines = 0) {
  Builder b(g);
  const auto param = [&](uint32_t slot, UOp size, UOp at) {
    return g.indexInto(g.make(Op::Param, DType::F32, {size}, SlotArg{slot, Space::Global}), std::vector<UOp>{at});
  };
  const auto fixed = [&](uint32_t slot, int64_t size, UOp at) { return g.load(param(slot, b.i(size), at)); };
  UOp r0 = b.loop(rows), r1 = b.loop(kColumns), k = b.loop(kTerms, AxisType::Reduce);
  UOp a = g.load(param(1, b.mul(rows, b.i(kTerms)), b.add(b.mul(r0, b.i(kTerms)), k)));
  UOp product = b.mul(a, fixed(2, kTerms * kColumns, b.add(b.mul(k, b.i(kColumns)), r1)));
  UOp sum = b.add(fixed(3, kColumns, r1), b.reduce(Op::Add, product, {k}));
  for (int i = 0; i < sines; ++i) sum = g.alu(Op::Sin, {sum});
  UOp at = b.add(b.mul(r0, b.i(kColumns)), r1), size = b.mul(rows, b.i(kColumns));
  UOp body = b.store(param(0, size, at), sum);
  if (hasMax) body = g.make(Op::Group, DType::Void, {body, b.store(param(4, size, at), b.reduce(Op::Max, a, {k}))});
  return b.sink({b.end(body, {r0, r1})});
}

/// What a kernel of any stage stores for a number of rows.
Buffers storedFor(UOp sink, int64_t rows) {
  Buffers buffers;
  for (int64_t size : {rows * kColumns, rows * kTerms, kTerms * kColumns, kColumns, rows * kColumns}) {
    HostTensor t = HostTensor::zeros(DType::F32, {size});
    for (int64_t i = 0; i < size; ++i)
      t.set(i, Scalar::of(DType::F32, static_cast<double>((i * 7 + static_cast<int64_t>(buffers.size()) * 5) % 11)));
    buffers.push_back(std::move(t));
  }
  return ranWith(sink, std::move(buffers), "rows", rows);
}

}  // namespace

TEST_CASE("Rows on a free axis are right whatever is left of the last tile") {
  for (bool hasMax : {false, true})
    for (int64_t tile : {2, 3, 6, 8, 12})
      for (const char* others :
           {"", " vector(1,4)", " vector(1,4) upcast(1,3)", " order(1,0)", " tile(1,4) order(1,0,2)"}) {
        const std::string opts = "upcast(0," + std::to_string(tile) + ")" + others;
        INFO(opts);
        Graph g;
        UOp plain = buildRows(g, g.variable("rows", 1, 100), hasMax), tuned = withOpts(g, plain, opts);
        UOp split = splitTileRests(g, tuned), loops = lowered(g, split);
        REQUIRE(split != tuned);
        checkStages(split, loops);
        for (int64_t rows = 1; rows <= 2 * tile + 1; ++rows) {
          INFO(rows << " rows");
          const Buffers expected = storedFor(plain, rows);
          CHECK(sameBuffers(expected, storedFor(split, rows), 0));
          CHECK(sameBuffers(expected, storedFor(loops, rows), 0));
        }
      }
}

TEST_CASE("Few tiles share rows evenly, and have any number of them") {
  for (auto [likely, tiles] : {std::pair(9, size_t{6}), {48, 6}, {49, 3}, {900, 3}}) {
    INFO(likely << " rows are likely");
    Graph g;
    UOp tuned = withOpts(g, buildRows(g, g.variable("rows", {1, 1000}, likely), false), "upcast(0,6) vector(1,4)");
    UOp split = splitTileRests(g, tuned);
    CHECK(split.src(0).src(0).srcCount() == tiles);
    CHECK((countOp(split, Op::Cmod) > 0) == (tiles == 6));
  }
}

TEST_CASE("What is left of a tile is prefetched, but for a single row") {
  Graph g;
  const UOp rows = buildRows(g, g.variable("rows", {1, 1000}, 900), false);
  const UOp split = splitTileRests(g, withOpts(g, rows, "upcast(0,6) vector(1,4) prefetch(2,2,96)"));
  CHECK(split.src(0).src(0).srcCount() == 3);
  CHECK(countOp(split, Op::Prefetch) == 2);
}

TEST_CASE("Rows that are known by the number of their tile keep whole tiles") {
  Graph g;
  Builder b(g);
  const auto read = [&](uint32_t slot, int64_t size, UOp at) {
    return g.load(g.indexInto(g.make(Op::Param, DType::F32, {b.i(size)}, SlotArg{slot, Space::Global}), {{at}}));
  };
  const UOp rows = g.variable("rows", {1, 12}, 9), copy = b.loop(3, AxisType::Upcast);
  const UOp tiles = b.loop(g.alu(Op::Cdiv, {b.add(rows, b.i(2)), b.i(3)})), k = b.loop(kTerms, AxisType::Reduce);
  const UOp row = b.add(b.mul(tiles, b.i(3)), copy), last = g.alu(Op::Min, {row, b.add(rows, b.i(-1))});
  const auto kernel = [&](UOp scaleOf) {
    const UOp scale = read(3, kColumns, scaleOf);
    const UOp sum = b.reduce(Op::Add, b.mul(read(1, 12 * kTerms, b.add(b.mul(last, b.i(kTerms)), k)), scale), {k});
    UOp out = g.indexInto(g.make(Op::Param, DType::F32, {b.i(12 * kColumns)}, SlotArg{0, Space::Global}), {{row}});
    const UOp store = g.make(Op::Store, DType::Void, {out, sum, g.alu(Op::Lt, {row, rows})});
    return b.sink({b.end(store, {tiles, copy})});
  };
  const UOp plain = kernel(tiles), split = splitTileRests(g, plain);
  CHECK(countOp(split, Op::Cmod) == 0);
  CHECK(countOp(splitTileRests(g, kernel(g.alu(Op::Floordiv, {last, b.i(3)}))), Op::Cmod) == 1);
  for (int64_t n = 1; n <= 12; ++n) {
    const auto stored = [&](UOp sink) {
      Buffers buffers;
      for (int64_t size : {12 * kColumns, 12 * kTerms, kTerms * kColumns, kColumns}) {
        buffers.push_back(HostTensor::zeros(DType::F32, {size}));
        for (int64_t i = 0; i < size; ++i) buffers.back().set(i, Scalar::of(DType::F32, static_cast<double>(i % 7)));
      }
      return ranWith(sink, std::move(buffers), "rows", n);
    };
    CHECK(sameBuffers(stored(plain), stored(lowered(g, split)), 0));
  }
}

TEST_CASE("Rests of tiles inside of larger tiles are right") {
  for (const char* opts : {"tile(0,12) upcast(1,4)", "tile(0,6) upcast(1,4)", "thread(0,4) upcast(1,3) vector(2,4)"}) {
    INFO(opts);
    Graph g;
    UOp plain = buildRows(g, g.variable("rows", 0, 100), false), split = splitTileRests(g, withOpts(g, plain, opts));
    UOp loops = lowered(g, split);
    for (int64_t rows = 1; rows <= 25; ++rows) {
      INFO(rows << " rows");
      CHECK(sameBuffers(storedFor(plain, rows), storedFor(loops, rows), 0));
    }
  }
}

TEST_CASE("Smaller tiles together are little more code than the whole one") {
  for (int64_t tile : {2, 3, 4, 6, 8, 12, 14, 16}) {
    Graph g;
    UOp tuned = withOpts(g, buildRows(g, g.variable("rows", 1, 100), false), "upcast(0," + std::to_string(tile) + ")");
    const int rows = countOp(lowered(g, splitTileRests(g, tuned)), Op::Mul);
    INFO("tile of " << tile << " rows");
    CHECK(rows <= 2.4 * countOp(lowered(g, tuned), Op::Mul));
  }
}

TEST_CASE("Long rows have fewer tiles, which are right") {
  for (auto [sines, most] : {std::pair(1, 2.2), std::pair(5, 1.4), std::pair(12, 1.2)}) {
    INFO(sines << " functions of each sum");
    Graph g;
    UOp plain = buildRows(g, g.variable("rows", 1, 100), false, sines), tuned = withOpts(g, plain, "upcast(0,8)");
    UOp split = splitTileRests(g, tuned), loops = lowered(g, split);
    REQUIRE(split != tuned);
    CHECK(countOp(loops, Op::Sin) <= most * countOp(lowered(g, tuned), Op::Sin));
    for (int64_t rows = 1; rows <= 17; ++rows) {
      INFO(rows << " rows");
      CHECK(sameBuffers(storedFor(plain, rows), storedFor(loops, rows), 0));
    }
  }
}

TEST_CASE("Rows that are looked up in a table are long") {
  const auto tiles = [](bool isLookedUp) {
    Graph g;
    Builder b(g);
    const UOp rows = g.variable("rows", 1, 100), r0 = b.loop(rows), r1 = b.loop(64),
              k = b.loop(kTerms, AxisType::Reduce);
    UOp row = g.cast(g.load(b.at(3, DType::I32, {100}, {r0})), DType::Index);
    row = g.where(b.lt(row, b.i(0)), b.add(row, b.i(9)), row);
    const UOp inside = b.both(b.lt(b.i(-1), row), b.lt(row, b.i(9)));
    const UOp entry = g.load(b.at(4, DType::F32, {9, 64}, {row, r1}), g.constant(Scalar::of(DType::F32, 0)), inside);
    const UOp product = b.mul(b.read(1, {100, kTerms}, {r0, k}), b.read(2, {kTerms, 64}, {k, r1}));
    const UOp sum = b.reduce(Op::Add, product, {k}), all = isLookedUp ? b.add(sum, entry) : sum;
    const UOp sink = b.sink({b.end(b.store(b.at(0, DType::F32, {100, 64}, {r0, r1}), all), {r0, r1})});
    return countOp(splitTileRests(g, withOpts(g, sink, "upcast(0,8) vector(1,16) upcast(1,4)")), Op::Reduce);
  };
  CHECK(tiles(false) == 4);  // of 8, 5, 3 and 1 rows
  CHECK(tiles(true) == 3);   // of 8, 2 and 1
}

TEST_CASE("Axes of constant extent, and rows without sums, keep their one tile") {
  Graph g;
  UOp fixed = withOpts(g, buildRows(g, g.index(21), false), "upcast(0,8)");
  CHECK(splitTileRests(g, fixed) == fixed);
  Builder b(g);
  UOp rows = g.variable("rows", 1, 9), r0 = b.loop(rows);
  UOp copy = b.sink({b.end(b.store(b.at(0, DType::F32, {9}, {r0}), b.read(1, {9}, {r0})), {r0})});
  copy = withOpts(g, copy, "upcast(0,4)");
  CHECK(splitTileRests(g, copy) == copy);
}
