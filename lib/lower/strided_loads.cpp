#include "lower/strided_loads.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "lower/transposed_lanes.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

std::optional<LaneOffsets> sum(Graph& g, std::optional<LaneOffsets> a, std::optional<LaneOffsets> b, int64_t sign) {
  if (!a || !b || a->lanes.size() != b->lanes.size()) return std::nullopt;
  for (size_t i = 0; i < a->lanes.size(); ++i) a->lanes[i] += sign * b->lanes[i];
  a->base = g.alu(sign > 0 ? Op::Add : Op::Sub, {a->base, b->base});
  return a;
}

std::optional<LaneOffsets> offsetsOf(Graph& g, UOp x, size_t width) {
  if (x.isScalar()) return LaneOffsets{x, std::vector<int64_t>(width, 0)};
  switch (x.op()) {
    case Op::Stack: {
      LaneOffsets all{g.index(0), {}};
      for (UOp s : x.src()) {
        if (!s.isConst()) return std::nullopt;
        all.lanes.push_back(s.constInt());
      }
      return all;
    }
    case Op::Ramp: {
      LaneOffsets all{x.src(0), {}};
      for (size_t i = 0; i < width; ++i) all.lanes.push_back(static_cast<int64_t>(i));
      return all;
    }
    case Op::Add:
    case Op::Sub:
      return sum(g, offsetsOf(g, x.src(0), width), offsetsOf(g, x.src(1), width), x.op() == Op::Add ? 1 : -1);
    case Op::Mul: {
      UOp vector = x.src(0), factor = x.src(1);
      if (factor.op() != Op::Const) std::swap(vector, factor);
      if (!factor.isConst() || !factor.isScalar()) return std::nullopt;
      std::optional<LaneOffsets> all = offsetsOf(g, vector, width);
      if (!all) return std::nullopt;
      for (int64_t& lane : all->lanes) lane *= factor.constInt();
      all->base = g.alu(Op::Mul, {all->base, factor});
      return all;
    }
    default: return std::nullopt;
  }
}

// A gather: where it reads, without the constant part of the base, and that part.
struct Gather {
  UOp storage, base;
  int64_t constant = 0;
  std::vector<int64_t> lanes;  // the least is 0

  UOp place(Graph& g, int64_t offset) const {
    int64_t at = constant + offset;
    return at == 0 ? base : simplify(g, g.alu(Op::Add, {base, g.index(at)}));
  }
  int64_t span() const { return *std::ranges::max_element(lanes) + 1; }
};

std::optional<Gather> gatherOf(Graph& g, UOp load) {
  if (load.op() != Op::Load || load.lanes() < 4 || load.src(0).op() != Op::Index) return std::nullopt;
  UOp storage = load.src(0).src(0), address = load.src(0).src(1);
  UOp memory = storageOf(storage);
  bool isReg = memory.op() == Op::Buffer && memory.argAs<SlotArg>().space == Space::Reg;
  if (isReg || address.isScalar() || address.op() == Op::Ramp || address.op() == Op::Rows ||
      address.dtype() != DType::Index)
    return std::nullopt;
  std::optional<LaneOffsets> offsets = laneOffsets(g, address);
  if (!offsets) return std::nullopt;
  Gather gather{storage, offsets->base, *std::ranges::min_element(offsets->lanes), std::move(offsets->lanes)};
  for (int64_t& lane : gather.lanes) lane -= gather.constant;
  if (gather.base.op() == Op::Add && gather.base.src(1).isConst()) {
    gather.constant += gather.base.src(1).constInt();
    gather.base = gather.base.src(0);
  } else if (gather.base.isConst()) {
    gather.constant += gather.base.constInt(), gather.base = g.index(0);
  }
  return gather;
}

class StridedLoads {
 public:
  explicit StridedLoads(Graph& graph) : g_(graph) {}

  UOp run(UOp sink) {
    findBlocks(sink);
    return transform(g_, sink, [&](UOp node, std::span<const UOp> src) {
      UOp same = std::ranges::equal(src, node.src()) ? node : g_.withSrc(node, src);
      std::optional<Gather> gather = gatherOf(g_, same);
      if (!gather) return same;
      if (auto place = blockOf_.find(node.id()); place != blockOf_.end())
        return fromBlock(*gather, same, place->second);
      UOp near = fromWindows(*gather, same);
      return near ? near : same;
    });
  }

 private:
  /// Where a load stands in a block of loads that read `rows` neighbours each.
  struct InBlock {
    uint32_t block;  // id of the first load
    size_t row;
    size_t rows;
  };

  // ---- transposed blocks
  void findBlocks(UOp sink) {
    using Key = std::tuple<uint32_t, uint32_t, std::vector<int64_t>>;
    std::map<Key, std::map<int64_t, UOp>> groups;
    for (UOp n : toposort(sink)) {
      if (n.op() != Op::Load || n.srcCount() != 1) continue;
      std::optional<Gather> gather = gatherOf(g_, n);
      if (!gather || !std::has_single_bit(gather->lanes.size())) continue;
      Key key{gather->storage.id(), gather->base.id(), gather->lanes};
      groups[std::move(key)].emplace(gather->constant, n);
    }
    for (const auto& [key, loads] : groups) takeRuns(loads, std::get<2>(key).size());
  }

  // Runs of neighbours, in the largest powers of two that fit a vector.
  void takeRuns(const std::map<int64_t, UOp>& loads, size_t width) {
    constexpr size_t kFewest = 4;
    for (auto first = loads.begin(); first != loads.end();) {
      size_t run = 0;
      auto end = first;
      while (end != loads.end() && run < width && end->first == first->first + static_cast<int64_t>(run)) ++end, ++run;
      size_t rows = std::bit_floor(run);
      if (rows < kFewest) rows = 1;
      auto next = first;
      for (size_t i = 0; i < rows; ++i, ++next)
        if (rows > 1) blockOf_[next->second.id()] = {first->second.id(), i, rows};
      first = next;
    }
  }

  UOp fromBlock(const Gather& gather, UOp load, const InBlock& place) {
    std::vector<UOp>& rows = blocks_[place.block];
    if (rows.empty()) rows = transposed(gather, load.dtype(), static_cast<int64_t>(place.row), place.rows);
    return rows[place.row];
  }

  // Element (lane l, row u) starts in register l mod n at position u of run l / n.
  std::vector<UOp> transposed(const Gather& gather, DType dtype, int64_t row, size_t n) {
    size_t width = gather.lanes.size();
    std::vector<UOp> registers;
    for (size_t r = 0; r < n; ++r) {
      std::vector<UOp> lanes;
      for (size_t l = r; l < width; l += n) {
        UOp run = g_.load(addressOf(gather, gather.lanes[l] - row, n));
        if (n == width) registers.push_back(run);
        for (size_t u = 0; u < n; ++u) lanes.push_back(laneOf(g_, run, u));
      }
      if (n < width) registers.push_back(g_.make(Op::Stack, dtype, lanes));
    }
    transposeLanes(g_, registers);
    return registers;
  }

  // ---- windows
  // The vectors that hold all lanes; null where they are too many.
  UOp fromWindows(const Gather& gather, UOp load) {
    auto width = static_cast<int64_t>(gather.lanes.size()), span = gather.span();
    auto length = std::min(width, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(span))));
    int64_t windows = (span + length - 1) / length;
    if (windows > std::max<int64_t>(2, width / 4) || length < 2) return {};
    bool masked = load.srcCount() == 3 && !load.src(2).isScalar();
    if (load.srcCount() == 3 && !load.src(1).isScalar()) return {};
    std::vector<UOp> lanes(gather.lanes.size());
    for (int64_t i = 0; i < windows; ++i) {
      int64_t start = std::min(i * length, span - length);
      std::vector<size_t> mine;  // lanes this window serves
      for (size_t l = 0; l < lanes.size(); ++l)
        if (!lanes[l] && gather.lanes[l] >= start && gather.lanes[l] < start + length) mine.push_back(l);
      if (mine.empty()) continue;
      UOp window = masked ? maskedWindow(gather, load, mine, start, length) : plainWindow(gather, load, start, length);
      for (size_t l : mine) lanes[l] = laneOf(g_, window, static_cast<size_t>(gather.lanes[l] - start));
    }
    UOp all = g_.make(Op::Stack, load.dtype(), lanes);
    return masked && sharesPlaces(gather) ? g_.where(load.src(2), all, load.src(1)) : all;
  }

  // Whether lanes read one element, of which the gate of one may be true, and that of another false.
  static bool sharesPlaces(const Gather& gather) {
    std::vector<int64_t> places = gather.lanes;
    std::ranges::sort(places);
    return std::ranges::adjacent_find(places) != places.end();
  }

  UOp plainWindow(const Gather& gather, UOp load, int64_t start, int64_t length) {
    UOp address = addressOf(gather, start, static_cast<size_t>(length));
    return load.srcCount() == 1 ? g_.load(address) : g_.load(address, load.src(1), load.src(2));
  }

  // Reads what some lane wants, under that lane's gate.
  UOp maskedWindow(const Gather& gather, UOp load, std::span<const size_t> mine, int64_t start, int64_t length) {
    std::vector<UOp> gates(static_cast<size_t>(length), g_.boolean(false));
    for (size_t l : mine) {
      UOp& gate = gates[static_cast<size_t>(gather.lanes[l] - start)];
      UOp own = load.src(2).op() == Op::Stack ? load.src(2).src(l) : laneOf(g_, load.src(2), l);
      gate = gate.isConst() ? own : g_.alu(Op::Or, {gate, own});
    }
    UOp address = addressOf(gather, start, gates.size());
    return g_.load(address, load.src(1), g_.make(Op::Stack, DType::Bool, gates));
  }

  // ---- pieces
  UOp addressOf(const Gather& gather, int64_t offset, size_t length) {
    UOp ramp = g_.make(Op::Ramp, DType::Index, {gather.place(g_, offset)}, SlotArg{static_cast<uint32_t>(length)});
    return g_.indexInto(gather.storage, {&ramp, 1});
  }

  Graph& g_;
  std::map<uint32_t, InBlock> blockOf_;          // by id of a load
  std::map<uint32_t, std::vector<UOp>> blocks_;  // by id of its first load
};

}  // namespace

std::optional<LaneOffsets> laneOffsets(Graph& graph, UOp address) {
  if (address.isScalar()) return std::nullopt;
  std::optional<LaneOffsets> offsets = offsetsOf(graph, address, static_cast<size_t>(address.lanes()));
  if (offsets) offsets->base = simplify(graph, offsets->base);
  return offsets;
}

UOp loadStrides(Graph& graph, UOp sink) { return StridedLoads(graph).run(sink); }

}  // namespace svod
