#include "lower/whole_sectors.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ir/evaluate.h"
#include "ir/gpu_op.h"
#include "lower/constant_parts.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int64_t kSector = 32, kWord = 4;  // bytes

/// A store of a word of small elements to a parameter.
struct WordStore {
  UOp node, base;  // of the address, a Ramp; null where that is constant
  int64_t constant = 0;
};

std::optional<WordStore> wordStore(UOp s) {
  if (s.op() != Op::Store || s.src(0).op() != Op::Index || storageOf(s.src(0)).op() != Op::Param) return std::nullopt;
  UOp value = s.src(1), at = s.src(0).src(1);
  const bool isWord = value.op() == Op::Stack && value.lanes() == 2 && 2 * byteSize(value.dtype()) == kWord;
  if (!isWord || at.op() != Op::Ramp) return std::nullopt;
  const ConstantPart part = constantPart(at.src(0));
  return WordStore{s, part.base, part.constant};
}

class Sectors {
 public:
  Sectors(Graph& graph, UOp lane) : g_(graph), lane_(lane) {}

  /// The store with neighbours in the same sector exchanged, two in the place of two; nothing where that saves nothing.
  std::vector<UOp> exchanged(const WordStore& low, const WordStore& high) {
    const int64_t apart = high.constant - low.constant;
    int64_t best = sectors(low, 0, 0), mask = 0;
    for (int64_t m = 1; m < kWarpLanes; m *= 2)
      if (const int64_t count = sectors(low, m, apart); count < best) best = count, mask = m;
    if (mask == 0) return {};
    UOp bit = g_.alu(Op::Floormod, {g_.alu(Op::Floordiv, {lane_, g_.index(mask)}), g_.index(2)});
    UOp isHigh = g_.alu(Op::Ne, {bit, g_.index(0)}), a = word(low.node.src(1)), b = word(high.node.src(1));
    UOp sent = g_.where(isHigh, a, b), by = g_.constant(Scalar::ofInt(DType::I32, mask));
    UOp got = g_.make(Op::Gpu, DType::U32, {sent, by}, NameArg{"shuffle_xor"});
    const auto times = [&](UOp x, int64_t n) { return g_.alu(Op::Mul, {x, g_.index(n)}); };
    UOp lowRow = g_.alu(Op::Sub, {lane_, times(bit, mask)}), highRow = g_.alu(Op::Add, {lowRow, g_.index(mask)});
    UOp half = times(bit, apart);
    return {store(low.node, lowRow, half, g_.where(isHigh, got, a)),
            store(low.node, highRow, half, g_.where(isHigh, b, got))};
  }

 private:
  /// How many the first store touches, with lanes paired by `mask`: each pair in the row of its first lane.
  int64_t sectors(const WordStore& store, int64_t mask, int64_t apart) {
    std::set<int64_t> touched;
    const int64_t bytes = byteSize(store.node.src(1).dtype());
    for (int64_t lane = 0; lane < kWarpLanes; ++lane) {
      const auto at = store.base ? evaluate(store.base,
                                            [&](UOp leaf) {
                                              const int64_t v = leaf == lane_ ? lane & ~mask : leaf.bounds().min;
                                              return std::optional(Scalar::ofInt(leaf.dtype(), v));
                                            })
                                 : std::nullopt;
      if (!at) return 0;
      touched.insert((at->asInt() + store.constant + ((lane & mask) != 0 ? apart : 0)) * bytes / kSector);
    }
    return static_cast<int64_t>(touched.size());
  }

  UOp word(UOp pair) {
    const auto part = [&](uint32_t i) { return g_.cast(g_.bitcast(pair.src(i), DType::U16), DType::U32); };
    UOp high = g_.alu(Op::Shl, {part(1), g_.constant(Scalar::ofInt(DType::U32, 16))});
    return g_.alu(Op::Or, {part(0), high});
  }

  UOp store(UOp like, UOp row, UOp more, UOp word) {
    const DType d = like.src(1).dtype();
    const auto at = [&](UOp x) { return simplify(g_, substitute(g_, x, {&lane_, 1}, {&row, 1})); };
    UOp first = simplify(g_, g_.alu(Op::Add, {at(like.src(0).src(1).src(0)), more}));
    UOp ramp = g_.make(Op::Ramp, first.dtype(), {first}, like.src(0).src(1).arg());
    UOp high = g_.alu(Op::Shr, {word, g_.constant(Scalar::ofInt(DType::U32, 16))});
    UOp pair =
        g_.make(Op::Stack, d, {g_.bitcast(g_.cast(word, DType::U16), d), g_.bitcast(g_.cast(high, DType::U16), d)});
    std::vector<UOp> src{g_.indexInto(like.src(0).src(0), {&ramp, 1}), pair};
    if (like.srcCount() > 2) src.push_back(at(like.src(2)));
    return g_.make(Op::Store, DType::Void, src);
  }

  Graph& g_;
  UOp lane_;
};

/// The first index of threads, where each warp has neighbours along it; null else.
UOp laneOf(std::span<const UOp> nodes) {
  for (UOp n : nodes)
    if (n.op() == Op::Special && n.argAs<VarArg>().name == "lidx0" && n.src(0).isConst() &&
        n.src(0).constInt() % kWarpLanes == 0)
      return n;
  return {};
}

}  // namespace

UOp fillSectors(Graph& g, UOp sink) {
  UOp lane = laneOf(toposort(sink));
  if (!lane) return sink;
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    if (same.op() != Op::Group) return same;
    using Place = std::tuple<uint32_t, uint32_t, uint32_t>;  // storage, base of the address, gate
    std::map<Place, std::vector<WordStore>> places;
    for (UOp s : same.src())
      if (const auto found = wordStore(s))
        places[{s.src(0).src(0).id(), found->base ? found->base.id() : 0, s.srcCount() > 2 ? s.src(2).id() : 0}]
            .push_back(*found);
    std::vector<UOp> left(same.src().begin(), same.src().end());
    for (auto& [place, stores] : places) {
      std::ranges::sort(stores, {}, &WordStore::constant);
      for (size_t i = 0; i + 1 < stores.size(); ++i) {
        const std::vector<UOp> now = Sectors(g, lane).exchanged(stores[i], stores[i + 1]);
        if (now.empty()) continue;
        std::ranges::replace(left, stores[i].node, now[0]);
        std::ranges::replace(left, stores[i + 1].node, now[1]);
        ++i;
      }
    }
    return std::ranges::equal(left, same.src()) ? same : g.make(Op::Group, DType::Void, left);
  });
}

}  // namespace svod
