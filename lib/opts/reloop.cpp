#include "opts/reloop.h"

#include <algorithm>

#include "facts/axes.h"
#include "ir/shape.h"
#include "opts/masked_product.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

UOp both(Graph& g, UOp a, UOp b) {
  if (!a || a == b) return b;
  return b ? g.alu(Op::And, {a, b}) : a;
}

// Every index of an address is within its dim whatever the counters are.
bool inBounds(UOp index) {
  UOp storage = index.src(0);
  for (size_t i = 1; i < index.srcCount(); ++i) {
    Interval at = index.src(i).bounds();
    if (at.min < 0 || i > storage.rank() || at.max >= storage.shape()[i - 1].bounds().min) return false;
  }
  return true;
}

class Relooper {
 public:
  Relooper(Graph& g, UOp sink, std::span<const Reloop> loops) : g_(g), sink_(sink), loops_(loops) {}

  UOp run() {
    if (std::ranges::any_of(loops_, [](const Reloop& loop) { return bool(loop.valid); }))
      for (UOp n : toposort(sink_))
        if (n.op() == Op::End || n.op() == Op::Fill) gateStoresOf(n.src(0), n);
    return transform(g_, sink_, [this](UOp n, std::span<const UOp> src) { return rebuild(n, src); });
  }

 private:
  const Reloop* loopFrom(UOp n) const {
    auto it = std::ranges::find(loops_, n, &Reloop::from);
    return it == loops_.end() ? nullptr : &*it;
  }

  // The condition under which an iteration of the loops in `closed` existed before.
  UOp validOf(std::span<const UOp> closed, bool forLoad = false) const {
    UOp valid;
    for (const Reloop& loop : loops_)
      if (loop.valid && !(forLoad && loop.clamped) && std::ranges::find(closed, loop.from) != closed.end())
        valid = both(g_, valid, loop.valid);
    return valid;
  }

  void gateStoresOf(UOp body, UOp closer) {
    if (body.op() == Op::Group || body.op() == Op::After) {
      for (UOp s : body.src().first(body.op() == Op::After ? 1 : body.srcCount())) gateStoresOf(s, closer);
    } else if (body.op() == Op::End) {
      gateStoresOf(body.src(0), closer);  // of an inner loop
    } else if (body.op() == Op::Store) {
      if (UOp valid = validOf(closer.src().subspan(1))) {
        if (gates_.size() <= body.id()) gates_.resize(body.id() + 1);
        gates_[body.id()] = both(g_, gates_[body.id()], valid);
      }
    }
  }

  UOp rebuild(UOp n, std::span<const UOp> src) {
    switch (n.op()) {
      case Op::Range:
        if (const Reloop* loop = loopFrom(n)) return loop->value;
        break;
      case Op::End:
      case Op::Fill: return g_.withSrc(n, closing(n, src[0]));
      case Op::Reduce: return reduce(n, src[0]);
      case Op::Load: return load(n, src);
      case Op::Store: return store(n, src);
      default: break;
    }
    return std::ranges::equal(src, n.src()) ? n : g_.withSrc(n, src);
  }

  std::vector<UOp> closing(UOp n, UOp value) const {
    std::vector<UOp> list{value};
    for (UOp r : n.src().subspan(1)) {
      if (const Reloop* loop = loopFrom(r))
        list.insert(list.end(), loop->ranges.begin(), loop->ranges.end());
      else
        list.push_back(r);
    }
    return list;
  }

  UOp reduce(UOp n, UOp value) {
    std::vector<UOp> list = closing(n, value);
    if (UOp valid = validOf(n.src().subspan(1))) list[0] = value = masked(n, list, valid);
    if (list.size() > 1 || n.srcCount() == 1) return g_.withSrc(n, list);
    // A fold of one value: 0 + x for floats, because -0 sums to +0; x for everything else.
    bool signedZero = isFloat(n.dtype()) && n.argAs<ReduceArg>().op == Op::Add;
    return signedZero ? g_.alu(Op::Add, {value, g_.constant(Scalar::of(n.dtype(), 0))}) : value;
  }

  UOp masked(UOp n, std::span<const UOp> list, UOp valid) {
    const bool isCoreSum = std::ranges::any_of(list.subspan(1), [](UOp r) { return axisType(r) == AxisType::Core; });
    if (isCoreSum) return maskedProduct(g_, list[0], valid);
    return g_.where(valid, list[0], g_.constant(identity(n.argAs<ReduceArg>().op, n.dtype())));
  }

  // A gate that speaks of the loop keeps the address inside in the iterations that there were, and in no other.
  UOp load(UOp n, std::span<const UOp> src) {
    UOp valid = validOf(n.ranges(), true);
    if (!valid || inBounds(src[0]) || inBounds(simplify(g_, src[0]))) return g_.withSrc(n, src);
    UOp alt = src.size() > 1 ? src[1] : g_.constant(Scalar::of(n.dtype(), 0));
    return g_.load(src[0], alt, both(g_, valid, src.size() > 2 ? src[2] : UOp()));
  }

  UOp store(UOp n, std::span<const UOp> src) {
    UOp valid = n.id() < gates_.size() ? gates_[n.id()] : UOp();
    if (!valid) return g_.withSrc(n, src);
    return g_.make(Op::Store, n.dtype(), {src[0], src[1], both(g_, valid, src.size() > 2 ? src[2] : UOp())});
  }

  Graph& g_;
  UOp sink_;
  std::span<const Reloop> loops_;
  std::vector<UOp> gates_;  // by id of the old store
};

UOp ceilDiv(Graph& g, UOp extent, int64_t n) {
  if (extent.isConst()) return g.index((extent.constInt() + n - 1) / n);
  if (isMultipleOf(extent, n)) return simplify(g, g.alu(Op::Floordiv, {extent, g.index(n)}));
  return g.alu(Op::Floordiv, {addIndices(g, extent, g.index(n - 1)), g.index(n)});
}

}  // namespace

bool isMultipleOf(UOp dim, int64_t n) {
  if (dim.isConst()) return dim.constInt() % n == 0;
  if (dim.op() == Op::Mul) return isMultipleOf(dim.src(0), n) || isMultipleOf(dim.src(1), n);
  if (dim.op() == Op::Add || dim.op() == Op::Sub) return isMultipleOf(dim.src(0), n) && isMultipleOf(dim.src(1), n);
  return false;
}

UOp reloop(Graph& graph, UOp sink, std::span<const Reloop> loops) { return Relooper(graph, sink, loops).run(); }

namespace {

// No store changes what another iteration reads, or writes later in an order that counts, so an iteration may run
// twice.
bool mayRepeat(UOp sink) {
  std::vector<UOp> written, read;
  for (UOp n : toposort(sink)) {
    const auto isSerial = [](UOp r) { return axisType(r) == AxisType::Serial; };
    if (n.op() == Op::End && std::ranges::any_of(n.src().subspan(1), isSerial)) return false;
    if (n.op() == Op::Load || n.op() == Op::Store) (n.op() == Op::Load ? read : written).push_back(storageOf(n.src(0)));
  }
  return std::ranges::none_of(read, [&](UOp s) { return std::ranges::find(written, s) != written.end(); });
}

// The last step may start earlier, to end with the last iteration: nothing in it is masked then.
bool mayStepBack(UOp sink, const Split& s) {
  bool enough = s.form == SplitForm::Inner && s.range.src(0).bounds().min >= s.amount;
  return enough && !s.once && mayRepeat(sink);
}

// What repeating an iteration does not change.
bool isIdempotent(UOp sink, UOp range) {
  return std::ranges::all_of(closersOf(sink, range), [](UOp c) {
    if (c.op() == Op::End) return true;
    Op op = c.argAs<ReduceArg>().op;
    return op == Op::Store || has(op, Idempotent);
  });
}

void maskRemainder(Graph& g, UOp sink, const Split& s, UOp start, UOp inner, Reloop& loop) {
  UOp extent = s.range.src(0);
  if (mayStepBack(sink, s)) {
    UOp last = subIndices(g, extent, g.index(s.amount));
    loop.value = g.alu(Op::Add, {g.alu(Op::Min, {start, last}), inner});
    loop.clamped = true;
    if (!isIdempotent(sink, s.range)) loop.valid = g.alu(Op::Le, {start, loop.value});  // not seen a step before
    return;
  }
  loop.valid = g.alu(Op::Lt, {loop.value, extent});
  const bool hasLast = extent.bounds().min >= 1;  // an iteration that copies beyond the extent may repeat
  loop.clamped = hasLast && (s.inner == AxisType::Upcast || s.inner == AxisType::Unroll);
  if (loop.clamped) loop.value = g.alu(Op::Min, {loop.value, subIndices(g, extent, g.index(1))});
}

}  // namespace

SplitResult splitRange(Graph& g, UOp sink, const Split& s) {
  UOp extent = s.range.src(0), n = g.index(s.amount), blocks = ceilDiv(g, extent, s.amount);
  UOp outer = g.range(blocks, s.range.argAs<AxisArg>().id, s.outer);
  UOp inner = g.range(n, nextRangeId(sink), s.inner);
  bool chunks = s.form == SplitForm::Chunks;
  UOp stride = chunks ? blocks : n, start = mulIndices(g, chunks ? inner : outer, stride);
  Reloop loop{s.range, addIndices(g, start, chunks ? outer : inner), {outer, inner}};
  if (!isMultipleOf(extent, s.amount)) maskRemainder(g, sink, s, start, inner, loop);
  return {reloop(g, sink, loop), outer, inner};
}

std::vector<MadeLoop> partsOf(const SplitResult& split, UOp range) {
  return {{MadeLoop::How::Part, split.inner, {range}, "i"}, {MadeLoop::How::Part, split.outer, {range}, "o"}};
}

UOp retypeRange(Graph& g, UOp sink, UOp range, AxisType type) {
  UOp renamed = g.range(range.src(0), range.argAs<AxisArg>().id, type);
  return reloop(g, sink, Reloop{range, renamed, {renamed}});
}

UOp dropUnitRanges(Graph& g, UOp sink) {
  std::vector<Reloop> units;
  for (UOp n : toposort(sink)) {
    if (n.op() == Op::Range && n.src(0).isConst(1)) units.push_back({n, g.index(0), {}});
  }
  return units.empty() ? sink : reloop(g, sink, units);
}

}  // namespace svod
