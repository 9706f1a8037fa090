#include "lower/line_stores.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "lower/strided_loads.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

// Places of the lanes: `first` + l, line after line of `pitch` places; the first `width` of each are stored to, from
// `base` on without gaps.
struct Lines {
  UOp base, first;
  int64_t pitch, width, lanes;
  UOp gate;  // what else must hold; null: nothing
};

void addParts(UOp n, Op op, std::vector<UOp>& parts) {
  if (n.op() != op) return parts.push_back(n);
  for (UOp s : n.src()) addParts(s, op, parts);
}

// n = place / pitch * width, for some width.
bool isLine(UOp n, UOp place, UOp pitch, int64_t width) {
  const auto divides = [&](UOp line) {
    return line.op() == Op::Floordiv && line.src(0) == place && line.src(1) == pitch;
  };
  if (width == 1) return divides(n);
  return n.op() == Op::Mul && n.src(1).isConst(width) && divides(n.src(0));
}

std::optional<Lines> linesOf(Graph& g, UOp store) {
  if (store.op() != Op::Store || store.srcCount() < 3 || store.src(2).isScalar()) return std::nullopt;
  UOp address = store.src(0).src(1);
  if (address.isScalar() || address.op() == Op::Ramp || address.dtype() != DType::Index) return std::nullopt;
  std::vector<UOp> terms, gates, bases;
  addParts(address, Op::Add, terms);
  addParts(store.src(2), Op::And, gates);
  auto column = std::ranges::find_if(terms, [](UOp n) { return n.op() == Op::Floormod && n.src(1).isConst(); });
  if (column == terms.end()) return std::nullopt;
  auto bound =
      std::ranges::find_if(gates, [&](UOp n) { return n.op() == Op::Lt && n.src(0) == *column && n.src(1).isConst(); });
  if (bound == gates.end()) return std::nullopt;
  UOp place = column->src(0), pitch = column->src(1);
  const int64_t width = bound->src(1).constInt();
  auto line = std::ranges::find_if(terms, [&](UOp n) { return isLine(n, place, pitch, width); });
  std::optional<LaneOffsets> offsets = laneOffsets(g, place);
  if (line == terms.end() || !offsets) return std::nullopt;
  const std::vector<int64_t>& lanes = offsets->lanes;
  Lines lines{g.index(0),
              g.alu(Op::Add, {offsets->base, g.index(lanes[0])}),
              pitch.constInt(),
              width,
              static_cast<int64_t>(lanes.size()),
              {}};
  for (size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i] != lanes[0] + static_cast<int64_t>(i)) return std::nullopt;
  for (auto it = terms.begin(); it != terms.end(); ++it) {
    if (it == column || it == line) continue;
    if (!it->isScalar()) return std::nullopt;
    lines.base = g.alu(Op::Add, {lines.base, *it});
  }
  for (auto it = gates.begin(); it != gates.end(); ++it)
    if (it != bound) lines.gate = lines.gate ? g.alu(Op::And, {lines.gate, *it}) : *it;
  const bool isInTwo = lines.lanes <= lines.pitch && lines.lanes <= width + 1;
  return isInTwo && lines.pitch >= width ? std::optional(lines) : std::nullopt;
}

class LineStores {
 public:
  explicit LineStores(Graph& graph) : g_(graph) {}

  UOp run(UOp sink) {
    return transform(g_, sink, [&](UOp node, std::span<const UOp> src) {
      if (node.op() == Op::Group) return g_.withSrc(node, split(src));
      if (node.op() != Op::End || src[0].op() != Op::Store)
        return std::ranges::equal(src, node.src()) ? node : g_.withSrc(node, src);
      std::vector<UOp> stores = split(src.first(1)), all(src.begin(), src.end());
      if (stores.size() > 1) all[0] = g_.make(Op::Group, DType::Void, stores);
      return g_.withSrc(node, all);
    });
  }

 private:
  std::vector<UOp> split(std::span<const UOp> stores) {
    std::vector<UOp> all;
    for (UOp store : stores) {
      std::optional<Lines> lines = linesOf(g_, store);
      if (!lines) {
        all.push_back(store);
        continue;
      }
      UOp pitch = g_.index(lines->pitch), width = g_.index(lines->width);
      UOp line = g_.alu(Op::Floordiv, {lines->first, pitch}), column = g_.alu(Op::Floormod, {lines->first, pitch});
      UOp start = g_.alu(Op::Add, {g_.alu(Op::Add, {lines->base, g_.alu(Op::Mul, {line, width})}), column});
      UOp next = g_.alu(Op::Sub, {start, g_.index(lines->pitch - lines->width)});
      UOp lanes = counting(lines->lanes);
      all.push_back(part(store, start, g_.alu(Op::Lt, {lanes, g_.alu(Op::Sub, {width, column})}), lines->gate));
      all.push_back(part(store, next, g_.alu(Op::Le, {g_.alu(Op::Sub, {pitch, column}), lanes}), lines->gate));
    }
    return all;
  }

  UOp part(UOp store, UOp start, UOp inside, UOp gate) {
    UOp at = g_.make(Op::Ramp, DType::Index, {simplify(g_, start)}, SlotArg{static_cast<uint32_t>(inside.lanes())});
    UOp all = simplify(g_, gate ? g_.alu(Op::And, {inside, gate}) : inside);
    return g_.make(Op::Store, DType::Void, {g_.indexInto(store.src(0).src(0), {&at, 1}), store.src(1), all});
  }

  UOp counting(int64_t n) {
    std::vector<UOp> lanes;
    for (int64_t i = 0; i < n; ++i) lanes.push_back(g_.index(i));
    return g_.make(Op::Stack, DType::Index, lanes);
  }

  Graph& g_;
};

}  // namespace

UOp storeLines(Graph& graph, UOp sink) { return LineStores(graph).run(sink); }

}  // namespace svod
