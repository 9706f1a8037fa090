#include "lower/strided_stores.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "lower/strided_loads.h"
#include "lower/transposed_lanes.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int64_t kMostInterleaved = 8;  // vectors

// A store of lanes that lie `step` elements apart, from `base` + `constant` on.
struct Scatter {
  UOp store, base;
  int64_t constant = 0, step = 0;
};

std::optional<Scatter> scatterOf(Graph& g, UOp store) {
  if (store.op() != Op::Store || store.src(0).op() != Op::Index) return std::nullopt;
  UOp value = store.src(1), address = store.src(0).src(1);
  const bool gated = store.srcCount() > 2 && !store.src(2).isScalar();
  if (value.isScalar() || gated || address.isScalar() || address.op() == Op::Ramp || address.dtype() != DType::Index)
    return std::nullopt;
  std::optional<LaneOffsets> offsets = laneOffsets(g, address);
  if (!offsets || offsets->lanes.size() < 2) return std::nullopt;
  const std::vector<int64_t>& lanes = offsets->lanes;
  Scatter scatter{store, offsets->base, lanes[0], lanes[1] - lanes[0]};
  for (size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i] != lanes[0] + static_cast<int64_t>(i) * scatter.step) return std::nullopt;
  if (UOp base = scatter.base; base.op() == Op::Add && base.src(1).isConst())
    scatter.constant += base.src(1).constInt(), scatter.base = base.src(0);
  else if (base.isConst())
    scatter.constant += base.constInt(), scatter.base = g.index(0);
  return scatter;
}

class StridedStores {
 public:
  explicit StridedStores(Graph& graph) : g_(graph) {}

  UOp run(UOp sink) {
    return transform(g_, sink, [&](UOp node, std::span<const UOp> src) {
      UOp same = std::ranges::equal(src, node.src()) ? node : g_.withSrc(node, src);
      return node.op() == Op::Group ? joined(same) : same;
    });
  }

 private:
  UOp joined(UOp group) {
    using Key = std::tuple<uint32_t, uint32_t, int64_t, int, uint32_t>;  // storage, base, step, lanes, gate
    std::map<Key, std::map<int64_t, Scatter>> found;
    for (UOp store : group.src()) {
      std::optional<Scatter> s = scatterOf(g_, store);
      if (!s || s->step < 2) continue;
      const uint32_t gate = store.srcCount() > 2 ? store.src(2).id() : 0;
      Key key{store.src(0).src(0).id(), s->base.id(), s->step, store.src(1).lanes(), gate};
      if (!found[key].emplace(s->constant, *s).second) return group;  // two stores to one place
    }
    std::vector<UOp> stores(group.src().begin(), group.src().end());
    for (const auto& [key, scatters] : found) join(scatters, std::get<2>(key), stores);
    return std::ranges::equal(stores, group.src()) ? group : g_.withSrc(group, stores);
  }

  // Takes runs of neighbours: `step` of them leave no gaps, others are lines across the lanes.
  void join(const std::map<int64_t, Scatter>& scatters, int64_t step, std::vector<UOp>& stores) {
    const bool mayInterleave = step <= kMostInterleaved && std::has_single_bit(static_cast<uint64_t>(step));
    for (auto at = scatters.begin(); at != scatters.end();) {
      std::vector<Scatter> run;
      for (auto next = at; next != scatters.end() && std::ssize(run) < step; ++next) {
        if (next->first != at->first + std::ssize(run)) break;
        run.push_back(next->second);
      }
      std::advance(at, run.size());
      if (mayInterleave && std::ssize(run) == step) {
        interleave(run, stores);
        continue;
      }
      const auto width = static_cast<size_t>(run[0].store.src(1).lanes());
      for (std::span<const Scatter> left = run; left.size() > 1 && std::has_single_bit(width);) {
        const size_t rows = std::min(std::bit_floor(left.size()), width);
        transpose(left.first(rows), stores);
        left = left.subspan(rows);
      }
    }
  }

  // Vectors of `rows` neighbours: as many as there are lanes.
  void transpose(std::span<const Scatter> rows, std::vector<UOp>& stores) {
    const size_t n = rows.size();
    std::vector<UOp> registers, lines;
    for (const Scatter& s : rows) registers.push_back(s.store.src(1));
    const auto width = static_cast<size_t>(registers[0].lanes());
    transposeLanes(g_, registers);
    for (size_t line = 0; line < width; ++line) {
      UOp value = registers[line % n];
      std::vector<UOp> lanes;
      for (size_t u = 0; n < width && u < n; ++u) lanes.push_back(laneOf(g_, value, line / n * n + u));
      if (n < width) value = g_.make(Op::Stack, value.dtype(), lanes);
      lines.push_back(neighbours(rows[0], static_cast<int64_t>(line) * rows[0].step, value));
    }
    put(rows, lines, stores);
  }

  void interleave(std::span<const Scatter> run, std::vector<UOp>& stores) {
    std::vector<UOp> values, lines;
    for (const Scatter& s : run) values.push_back(s.store.src(1));
    for (UOp value : interleaved(values)) lines.push_back(neighbours(run[0], std::ssize(lines) * value.lanes(), value));
    put(run, lines, stores);
  }

  // A store of `value` side by side, so many elements behind where `first` begins.
  UOp neighbours(const Scatter& first, int64_t offset, UOp value) {
    UOp start = simplify(g_, g_.alu(Op::Add, {first.base, g_.index(first.constant + offset)}));
    UOp at = g_.make(Op::Ramp, DType::Index, {start}, SlotArg{static_cast<uint32_t>(value.lanes())});
    std::vector<UOp> src(first.store.src().begin(), first.store.src().end());
    src[0] = g_.indexInto(first.store.src(0).src(0), {&at, 1}), src[1] = value;
    return g_.withSrc(first.store, src);
  }

  // `lines` in the place of the stores of `run`.
  static void put(std::span<const Scatter> run, std::span<const UOp> lines, std::vector<UOp>& stores) {
    const auto place = std::ranges::find(stores, run[0].store);
    stores.insert(place, lines.begin(), lines.end());
    std::erase_if(stores, [&](UOp s) { return std::ranges::find(run, s, &Scatter::store) != run.end(); });
  }

  // Element 0 of each vector, then element 1 of each, ..: even and odd ones alternate once both are in that
  // order.
  std::vector<UOp> interleaved(const std::vector<UOp>& vectors) {
    if (vectors.size() == 1) return vectors;
    std::vector<UOp> halves[2], all;
    for (size_t i = 0; i < vectors.size(); ++i) halves[i % 2].push_back(vectors[i]);
    const std::vector<UOp> even = interleaved(halves[0]), odd = interleaved(halves[1]);
    for (size_t i = 0; i < even.size(); ++i)
      for (size_t half : {0, 1}) all.push_back(alternating(even[i], odd[i], half));
    return all;
  }
  UOp alternating(UOp a, UOp b, size_t half) {
    std::vector<UOp> lanes;
    const auto width = static_cast<size_t>(a.lanes());
    for (size_t i = 0; i < width; ++i) lanes.push_back(laneOf(g_, i % 2 == 0 ? a : b, half * width / 2 + i / 2));
    return g_.make(Op::Stack, a.dtype(), lanes);
  }

  Graph& g_;
};

}  // namespace

UOp storeStrides(Graph& graph, UOp sink) { return StridedStores(graph).run(sink); }

}  // namespace svod
