#include "lower/matrix_loads.h"

#include <algorithm>
#include <map>

#include "ir/gpu_op.h"
#include "lower/constant_parts.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int kLaneBits = 5, kSideBits = 3;  // of 32 lanes, of a side of a matrix

bool countsFrom(const Fragment& f, int first, char dim, int bit, int count) {
  for (int i = 0; i < count; ++i)
    if (f.bits[static_cast<size_t>(first + i)] != TileBit{dim, static_cast<uint8_t>(bit + i)}) return false;
  return true;
}

}  // namespace

std::optional<MatrixLoad> matrixLoadOf(const TensorCore& core, const Fragment& f, bool isTransposed) {
  const int matrixBits = f.elementBits - 1;
  if (info(core.in).bits != 16 || f.laneBits != kLaneBits || matrixBits < 1 || matrixBits > 2) return std::nullopt;
  const char column = f.bits[0].dim, row = f.bits[2].dim;
  const bool isMatrix = row != column && countsFrom(f, 0, column, 1, 2) && countsFrom(f, 2, row, 0, 3) &&
                        countsFrom(f, kLaneBits, column, 0, 1);
  if (!isMatrix) return std::nullopt;
  Fragment rows;
  const auto add = [&](char dim) {
    for (uint8_t bit = 0; bit < kSideBits; ++bit) rows.bits[static_cast<size_t>(rows.count() + bit)] = {dim, bit};
  };
  add(isTransposed ? column : row);
  rows.laneBits = kSideBits;
  for (int i = 0; i < matrixBits; ++i)
    rows.bits[static_cast<size_t>(rows.laneBits++)] = f.bits[static_cast<size_t>(kLaneBits + 1 + i)];
  add(isTransposed ? row : column);
  rows.elementBits = kSideBits;
  if (matrixBits == 1) return MatrixLoad{isTransposed ? "ldmatrix_x2_trans" : "ldmatrix_x2", rows};
  return MatrixLoad{isTransposed ? "ldmatrix_x4_trans" : "ldmatrix_x4", rows};
}

namespace {

bool isPairOfMatrices(UOp n) { return n.op() == Op::Gpu && n.argAs<NameArg>().name.starts_with("ldmatrix_x2"); }

// The index that counts the lanes of a warp; null where none counts whole warps.
UOp laneIndex(UOp sink) {
  for (UOp n : toposort(sink))
    if (n.op() == Op::Special && n.argAs<VarArg>().name == "lidx0" && n.src(0).isConst(kWarpLanes)) return n;
  return {};
}

}  // namespace

UOp pairMatrixLoads(Graph& g, UOp sink) {
  UOp lane = laneIndex(sink);
  if (!lane) return sink;
  struct Load {
    UOp node;
    int64_t constant;
  };
  std::map<std::tuple<uint32_t, uint32_t, std::string>, std::vector<Load>> byPlace;
  for (UOp n : toposort(sink)) {
    if (!isPairOfMatrices(n)) continue;
    const ConstantPart at = constantPart(simplify(g, n.src(0).src(1)));
    const std::string name(n.argAs<NameArg>().name);
    byPlace[{n.src(0).src(0).id(), at.base ? at.base.id() : UINT32_MAX, name}].push_back({n, at.constant});
  }
  struct Pair {
    UOp at;  // of the rows of both
    uint32_t second;
  };
  std::map<uint32_t, Pair> pairOf;  // by node id
  for (auto& [place, loads] : byPlace) {
    std::ranges::sort(loads, {}, &Load::constant);
    for (size_t i = 0; i + 1 < loads.size(); i += 2) {
      UOp half = g.alu(Op::Floordiv, {lane, g.index(kWarpLanes / 2)});
      UOp apart = g.alu(Op::Mul, {half, g.index(loads[i + 1].constant - loads[i].constant)});
      UOp both = simplify(g, g.alu(Op::Add, {loads[i].node.src(0).src(1), apart}));
      for (uint32_t second : {0U, 1U}) pairOf[loads[i + second].node.id()] = {both, second};
    }
  }
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) -> UOp {
    const auto found = pairOf.find(n.id());
    if (found == pairOf.end()) return std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    const auto& [at, second] = found->second;
    const bool isTransposed = n.argAs<NameArg>().name.ends_with("_trans");
    UOp four = g.make(Op::Gpu, DType::U32, {g.indexInto(src[0].src(0), {&at, 1})},
                      NameArg{isTransposed ? "ldmatrix_x4_trans" : "ldmatrix_x4"});
    UOp low = g.make(Op::Lane, DType::U32, {four}, SlotArg{2 * second});
    UOp high = g.make(Op::Lane, DType::U32, {four}, SlotArg{2 * second + 1});
    return g.make(Op::Stack, DType::U32, {low, high});
  });
}

}  // namespace svod
