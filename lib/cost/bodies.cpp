#include "cost/bodies.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/tile_unit.h"

namespace svod {

namespace {

// Selections among the copies of an expanded loop are known once those are written out.
bool isKnown(UOp n) {
  constexpr Op kCompare[] = {Op::Eq, Op::Ne, Op::Lt, Op::Le};
  const UOp condition = n.op() == Op::Where ? n.src(0) : n;
  if (std::ranges::find(kCompare, condition.op()) == std::end(kCompare)) return false;
  UOp a = condition.src(0), b = condition.src(1);
  if (a.isConst()) std::swap(a, b);
  return a.op() == Op::Range && b.isConst() && axisType(a) == AxisType::Upcast;
}

// Copies of an access in expanded loops, where those that touch the same element are one: taps of neighbouring rows do.
double distinctCopies(const Access& access, const std::vector<UOp>& expanded, UOp lanes) {
  double copies = 1;
  bool hasStrides = !access.isStore;
  std::vector<int64_t> offsets{0};
  for (UOp r : expanded) {
    if (r == lanes) continue;
    copies *= extentOf(r);
    const std::optional<int64_t> stride = strideOf(access, r);
    hasStrides = hasStrides && stride;
    if (!hasStrides) continue;
    const size_t before = offsets.size();
    for (int64_t i = 1; i < maxExtent(r); ++i)
      for (size_t j = 0; j < before; ++j) offsets.push_back(offsets[j] + i * *stride);
    std::ranges::sort(offsets);
    offsets.erase(std::ranges::unique(offsets).begin(), offsets.end());
  }
  return hasStrides ? static_cast<double>(offsets.size()) : copies;
}

UOp bufferOf(UOp storage) { return storage.op() == Op::Fill ? storageOf(storage.src(0).src(0)) : storage; }

class Collector {
 public:
  Collector(const KernelFacts& kernel, const Caps& caps) : kernel_(kernel), caps_(caps), loops_(kernel.loops()) {
    for (UOp n : kernel.reduces)
      if (std::optional<TileForm> form = tileFormOf(n)) tiles_[n.id()] = *form;
  }

  Bodies collect(bool joinsProducts) {
    std::vector<UOp> joined;
    for (UOp n : kernel_.reduces)
      if (tiles_.contains(n.id()))
        joined.insert(joined.end(), {n.src(0), n.src(0).src(0), n.src(0).src(1)});
      else if (joinsProducts && n.src(0).op() == Op::Mul)
        joined.push_back(n.src(0));
    for (UOp n : kernel_.nodes)
      if (!isKnown(n) && std::ranges::find(joined, n) == joined.end()) add(n);
    return std::move(result_);
  }

 private:
  // Copies of a value that does not depend on an expanded loop are one value.
  static bool repeats(UOp n, UOp range) {
    return axisType(range) != AxisType::Dot && (n.dependsOn(range) || n.op() == Op::Store);
  }

  Body& bodyOf(const std::vector<UOp>& running) {
    const auto [at, isNew] = bodies_.try_emplace(running, result_.all.size());
    if (isNew) {
      Body& body = result_.all.emplace_back();
      body.loops = running;
      for (UOp r : running) body.runs *= extentOf(r);
    }
    return result_.all[at->second];
  }

  // The tile form that a reduce is, or that a load is a factor of.
  const TileForm* tileOf(UOp n) const {
    for (const auto& [id, form] : tiles_)
      if (n.id() == id || n == form.a || n == form.b) return &form;
    return nullptr;
  }

  // One instruction takes all that the ranges of a tile name; a factor is as many loads as it has rows.
  void addTiles(UOp n, const TileForm& form, const std::vector<UOp>& running, const std::vector<UOp>& expanded) {
    double copies = 1;
    for (UOp r : expanded)
      if (r != form.groups && r != form.terms && r != form.rows && r != form.columns) copies *= extentOf(r);
    Body& body = bodyOf(running);
    if (n.op() == Op::Reduce) {
      body.each += {std::max(form.unit->cycles * copies, form.unit->latency), 0, copies};
      return;
    }
    const Access access = accessOf(n);
    const Cycles row = cyclesOf(access, {}, 1, 1, caps_);
    const double rows = copies * static_cast<double>(n == form.a ? form.unit->m : form.groupCount());
    body.each += {0, row.memory * rows, copies};
    addTouch(access, body, running, expanded);
  }

  void add(UOp n) {
    const bool isAccess = n.op() == Op::Load || n.op() == Op::Store;
    const Cycles one = isAccess ? Cycles{} : cyclesOf(n, caps_);
    if (!isAccess && one.instructions == 0) return;
    std::vector<UOp> around(loops_[n].begin(), loops_[n].end());
    if (n.op() == Op::Reduce) around.insert(around.end(), n.src().begin() + 1, n.src().end());
    std::vector<UOp> running, expanded;
    double copies = 1;
    UOp lanes;
    for (UOp r : around) {
      if (r.op() != Op::Range) continue;
      if (!isExpanded(axisType(r)))
        running.push_back(r);
      else if (repeats(n, r) || isAccumulated(n, r))
        expanded.push_back(r), axisType(r) == AxisType::Vector ? void(lanes = r) : void(copies *= extentOf(r));
    }
    if (const TileForm* form = tileOf(n)) return addTiles(n, *form, running, expanded);
    const int64_t width = lanes ? maxExtent(lanes) : 1;
    const double vectors = std::ceil(static_cast<double>(width * laneBytes(valueOf(n))) / caps_.vectorBytes);
    Body& body = bodyOf(running);
    if (isAccess) return addAccess(n, body, running, expanded, lanes, std::max(vectors, 1.0));
    const double times = copies * std::max(vectors, 1.0);
    body.each += {one.arithmetic * times, 0, one.instructions * times};
    if (n.op() == Op::Reduce) addReduce(n, body, expanded, times);
  }

  static UOp valueOf(UOp n) { return n.op() == Op::Store ? n.src(1) : n; }
  // The loops of a reduce itself run its operation, whether its result depends on them or not.
  static bool isAccumulated(UOp n, UOp r) {
    return n.op() == Op::Reduce && std::ranges::find(n.src().subspan(1), r) != n.src().subspan(1).end() &&
           axisType(r) != AxisType::Dot;
  }

  void addReduce(UOp n, Body& body, const std::vector<UOp>& expanded, double times) {
    double inOrder = 1;
    for (UOp r : expanded)
      if (axisType(r) == AxisType::Unroll) inOrder *= extentOf(r);
    body.accumulators += times / inOrder;
    body.additions = std::max(body.additions, inOrder);
    // Lanes and accumulators become one value where the sum is complete.
    double folds = 0;
    for (UOp r : n.src().subspan(1))
      if (r.op() == Op::Range && (axisType(r) == AxisType::Vector || axisType(r) == AxisType::Upcast))
        folds += 2 * std::log2(extentOf(r));
    if (folds == 0) return;
    double results = 1;
    std::vector<UOp> outside;
    for (UOp r : loops_[n])
      if (!isExpanded(axisType(r)))
        outside.push_back(r);
      else if (n.dependsOn(r))
        results *= extentOf(r);
    bodyOf(outside).each += {folds * results, 0, 2 * folds * results};
  }

  void addAccess(UOp n, Body& body, const std::vector<UOp>& running, const std::vector<UOp>& expanded, UOp lanes,
                 double vectors) {
    const Access access = accessOf(n);
    const Cycles each = cyclesOf(access, lanes, lanes ? maxExtent(lanes) : 1, vectors, caps_);
    const double copies = distinctCopies(access, expanded, lanes);
    body.each += {each.arithmetic * copies, each.memory * copies, each.instructions * copies};
    addTouch(access, body, running, expanded);
  }

  static Access accessOf(UOp n) {
    const UOp storage = storageOf(n.src(0));
    Access access{n, n.src(0).src(1), std::nullopt, n.op() == Op::Store};
    if (storage.op() == Op::Param) access.slot = storage.argAs<SlotArg>().slot;
    return access;
  }

  void addTouch(const Access& access, Body& body, const std::vector<UOp>& running, const std::vector<UOp>& expanded) {
    body.touches.push_back(result_.touches.size());
    Touch touch{access, bufferOf(storageOf(access.node.src(0))), running, running.size()};
    touch.loops.insert(touch.loops.end(), expanded.begin(), expanded.end());
    result_.touches.push_back(std::move(touch));
  }

  const KernelFacts& kernel_;
  const Caps& caps_;
  const LoopsOf& loops_;
  std::map<uint32_t, TileForm> tiles_;  // by id of the reduce
  Bodies result_;
  std::map<std::vector<UOp>, size_t, bool (*)(const std::vector<UOp>&, const std::vector<UOp>&)> bodies_{
      [](const std::vector<UOp>& a, const std::vector<UOp>& b) {
        return std::ranges::lexicographical_compare(a, b, {}, &UOp::id, &UOp::id);
      }};
};

}  // namespace

Bodies bodiesOf(const KernelFacts& kernel, const Caps& caps, bool joinsProducts) {
  return Collector(kernel, caps).collect(joinsProducts);
}

}  // namespace svod
