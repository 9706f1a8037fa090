#include "lower/rings.h"

#include <algorithm>
#include <map>

#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "ir/multiple_of.h"
#include "ir/ranges.h"
#include "lower/bulk_stages.h"
#include "lower/warpgroup_sums.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

int64_t stagesOf(UOp buffer) { return buffer.op() == Op::Buffer ? buffer.argAs<SlotArg>().ring : 0; }
bool isFilledRing(UOp n) { return n.op() == Op::After && stagesOf(n.src(0)) > 0; }

/// Prefetches are for loads of memory: a ring is read where it is.
UOp behindPrefetches(UOp storage) {
  while (storage.op() == Op::Prefetch) storage = storage.src(0);
  return storage;
}

/// The loop of a reduce, and the only one, in which a ring is filled: it turns with that. Null where there is none.
UOp loopOf(UOp filled) {
  UOp loop;
  for (UOp r : filled.ranges()) {
    if (r.argAs<AxisArg>().type != AxisType::Reduce) continue;
    if (loop) return {};
    loop = r;
  }
  return loop;
}

std::vector<UOp> effectsIn(UOp effect) {
  if (effect.op() != Op::Group) return {effect};
  std::vector<UOp> all;
  for (UOp s : effect.src())
    for (UOp e : effectsIn(s)) all.push_back(e);
  return all;
}

std::vector<UOp> effectsOf(UOp filled) {
  std::vector<UOp> all;
  for (UOp fill : filled.src().subspan(1))
    for (UOp effect : effectsIn(fill)) all.push_back(effect);
  return all;
}

UOp shifted(Graph& g, UOp at, UOp by) {
  if (at.op() != Op::Ramp) return simplify(g, g.alu(Op::Add, {at, by}));
  return g.make(Op::Ramp, DType::Index, {simplify(g, g.alu(Op::Add, {at.src(0), by}))}, at.arg());
}

UOp closed(Graph& g, UOp effect, const std::vector<UOp>& ranges) {
  std::vector<UOp> src{effect};
  src.insert(src.end(), ranges.begin(), ranges.end());
  return ranges.empty() ? effect : g.make(Op::End, DType::Void, src);
}

/// All rings that turn with one loop, together.
class Ring {
 public:
  Ring(Graph& graph, const GpuTarget& gpu, UOp loop, std::vector<UOp> filled, uint32_t nextRange)
      : g_(graph), gpu_(gpu), loop_(loop), filled_(std::move(filled)), nextRange_(nextRange) {
    stages_ = stagesOf(filled_[0].src(0));
    for (UOp f : filled_) stages_ = std::min(stages_, stagesOf(f.src(0)));
    ahead_ = stages_ - 1;
    for (UOp f : filled_) {
      UOp buffer = f.src(0);
      SlotArg arg = buffer.argAs<SlotArg>();
      arg.ring = 0;
      UOp size = g_.index(stageElements(buffer) * stages_);
      buffers_.push_back(g_.make(Op::Buffer, buffer.dtype(), {size}, arg));
    }
  }

  UOp run(UOp sink) {
    underWay_ = stages_ > 2 ? waitForRings(sink, loop_, filled_) : UOp();
    if (underWay_) {
      sink = leaveUnderWay(g_, sink, underWay_);
      --ahead_;  // the stage of the iteration before is read as well
    }
    std::vector<UOp> after = loopsAround(sink, loop_);
    BulkStages bulk(g_, gpu_, sink, loop_, after);
    for (size_t i = 0; i < filled_.size(); ++i)
      if (!bulk.take(effectsOf(filled_[i]), filled_[i].src(0), buffers_[i])) byThreads_.push_back(i);
    if (!bulk.isEmpty()) after.push_back(bulk.made(stages_));
    UOp before;
    for (int64_t i = 0; i < ahead_; ++i) {
      before = committed(bulk, g_.index(i), g_.index(i), after, UOp());
      after = {before};
    }
    // The stage that is filled next was left before this meeting, so its copies start before anything else.
    UOp meet = g_.make(Op::Barrier, DType::Void, {ofThreads(before), loop_});
    UOp ahead = g_.alu(Op::Add, {loop_, g_.index(ahead_)});
    UOp next = committed(bulk, ahead, stageAt(ahead), {meet}, loop_);
    UOp started = runsOn(next) ? next : meet;
    UOp ready = bulk.isEmpty() ? started : bulk.arrived({&started, 1});
    std::vector<UOp> from, to;
    for (size_t i = 0; i < filled_.size(); ++i)
      readers(sink, i, isByThreads(i) ? std::vector{meet, ready} : std::vector{ready}, from, to);
    sink = substitute(g_, sink, from, to);
    return closing(sink, next);
  }

 private:
  bool isAsync() const { return hasGpuOp("cp_async16", gpu_.family, gpu_.generation); }

  UOp stageAt(UOp step) { return simplify(g_, g_.alu(Op::Floormod, {step, g_.index(stages_)})); }

  /// The copies of iteration `step` into a stage, where the iteration exists; those of all threads as one group.
  UOp committed(BulkStages& bulk, UOp step, UOp stage, const std::vector<UOp>& after, UOp loop) {
    UOp exists = simplify(g_, g_.alu(Op::Lt, {step, loop_.src(0)}));
    UOp inBulk = bulk.isEmpty() ? UOp() : bulk.started(step, stage, exists, after, loop);
    if (byThreads_.empty()) return inBulk;
    std::vector<UOp> copies;
    for (size_t i : byThreads_)
      for (UOp effect : effectsOf(filled_[i])) copies.push_back(copied(effect, i, {step, stage, exists, after}));
    if (loop && isAsync()) copies.push_back(loop);
    UOp started = isAsync() ? g_.make(Op::Gpu, DType::Void, copies, NameArg{"cp_commit"})
                            : g_.make(Op::Group, DType::Void, copies);
    return inBulk ? g_.make(Op::Group, DType::Void, {started, inBulk}) : started;
  }

  /// Whether nobody waits for these copies where they start: none is a store of what a thread has loaded.
  static bool runsOn(UOp copies) {
    return std::ranges::none_of(toposort(copies), [](UOp n) { return n.op() == Op::Store; });
  }

  bool isByThreads(size_t ring) const { return std::ranges::find(byThreads_, ring) != byThreads_.end(); }

  /// What this thread has copied to the stage of this iteration is there.
  UOp ofThreads(UOp before) {
    if (byThreads_.empty() || !isAsync()) return g_.make(Op::Group, DType::Void, {before});
    UOp left = g_.constant(Scalar::ofInt(DType::I32, ahead_ - 1));
    return g_.make(Op::Gpu, DType::Void, {left, before, loop_}, NameArg{"cp_wait"});
  }

  struct Turn {
    UOp step, stage, exists;
    const std::vector<UOp>& after;
  };

  UOp copied(UOp effect, size_t ring, const Turn& turn) {
    if (effect.op() == Op::End) {
      std::vector<UOp> src{UOp()}, bodies;  // with loops of its own
      for (UOp r : effect.src().subspan(1)) src.push_back(g_.range(r.src(0), nextRange_++, r.argAs<AxisArg>().type));
      UOp body = substitute(g_, effect.src(0), effect.src().subspan(1), std::span(src).subspan(1));
      for (UOp e : effectsIn(body)) bodies.push_back(copied(e, ring, turn));
      src[0] = bodies.size() == 1 ? bodies[0] : g_.make(Op::Group, DType::Void, bodies);
      return g_.make(Op::End, DType::Void, src);
    }
    UOp store = substitute(g_, effect, {&loop_, 1}, {&turn.step, 1});
    UOp offset = g_.alu(Op::Mul, {turn.stage, g_.index(stageElements(filled_[ring].src(0)))});
    UOp place = shifted(g_, store.src(0).src(1), offset);
    UOp gate = store.srcCount() > 2 ? store.src(2) : UOp();
    UOp value = onlyWhere(store.src(1), turn.exists);
    UOp storage = buffers_[ring];
    if (UOp copy = underWay(g_.indexInto(storage, {&place, 1}), value, gate, turn.after)) return copy;
    if (!turn.after.empty()) {
      std::vector<UOp> known{storage};
      known.insert(known.end(), turn.after.begin(), turn.after.end());
      storage = g_.make(Op::After, storage.dtype(), known);
    }
    std::vector<UOp> src{g_.indexInto(storage, {&place, 1}), value};
    UOp both = gate && !turn.exists.isConst(1) ? g_.alu(Op::And, {gate, turn.exists}) : gate ? gate : turn.exists;
    if (!both.isConst(1)) src.push_back(both);
    return g_.make(Op::Store, DType::Void, src);
  }

  /// Loads of `value` that move with the loop, where the iteration that they are for exists.
  UOp onlyWhere(UOp value, UOp exists) {
    if (exists.isConst(1)) return value;
    return transform(g_, value, [&](UOp n, std::span<const UOp> src) -> UOp {
      UOp same = std::ranges::equal(src, n.src()) ? n : g_.withSrc(n, src);
      if (n.op() != Op::Load || storageOf(n.src(0)).op() != Op::Param) return same;
      UOp gate = src.size() > 2 ? g_.alu(Op::And, {src[2], exists}) : exists;
      return g_.load(src[0], src.size() > 2 ? src[1] : g_.constant(Scalar::of(n.dtype(), 0)), gate);
    });
  }

  /// The store of a bare load of a parameter as a copy that runs on; null where no such copy does it.
  UOp underWay(UOp to, UOp value, UOp gate, const std::vector<UOp>& after) {
    if (!isAsync() || gate || value.op() != Op::Load || storageOf(value.src(0)).op() != Op::Param) return {};
    const int64_t lanes = to.lanes(), bytes = lanes * byteSize(to.dtype());
    if ((bytes != 4 && bytes != 8 && bytes != 16) || value.lanes() != lanes || info(value.dtype()).bits < 8) return {};
    UOp from = value.src(0);
    for (UOp* address : {&to, &from}) {
      UOp at = address->src(1);
      if (lanes > 1 && at.op() != Op::Ramp) return {};
      UOp first = lanes > 1 ? at.src(0) : at;
      if (multipleOf(first) % lanes != 0) return {};
      *address = g_.indexInto(address->src(0), {&first, 1});
    }
    std::vector<UOp> src{to, from};
    if (value.srcCount() > 2) {
      const bool isZero = value.src(1).isConst() && value.src(1).constant().raw() == 0;
      if (!isZero || !value.src(2).isScalar()) return {};
      src.push_back(value.src(2));
    }
    src.insert(src.end(), after.begin(), after.end());
    return g_.make(Op::Gpu, DType::Void, src, NameArg{"cp_async" + std::to_string(bytes)});
  }

  /// Addresses in the ring, in the stage of the iteration.
  void readers(UOp sink, size_t ring, std::vector<UOp> behind, std::vector<UOp>& from, std::vector<UOp>& to) {
    behind.insert(behind.begin(), buffers_[ring]);
    UOp ready = g_.make(Op::After, buffers_[ring].dtype(), behind);
    UOp offset = g_.alu(Op::Mul, {stageAt(loop_), g_.index(stageElements(filled_[ring].src(0)))});
    for (UOp n : toposort(sink)) {
      if (n.op() != Op::Index || behindPrefetches(n.src(0)) != filled_[ring]) continue;
      UOp at = n.src(1).lanes() == 1 || n.src(1).op() == Op::Ramp ? shifted(g_, n.src(1), offset)
                                                                  : g_.alu(Op::Add, {n.src(1), offset});
      from.push_back(n), to.push_back(g_.indexInto(ready, {&at, 1}));
    }
  }

  /// The loop ends with the copies it has started. Whoever runs it again waits for those that are left, the zeros of
  /// iterations that do not exist, which would else arrive behind new copies into the same stage, and meets before.
  UOp closing(UOp sink, UOp next) {
    return transform(g_, sink, [&](UOp n, std::span<const UOp> src) {
      const auto at = std::ranges::find(src, loop_);
      if (n.op() != Op::End || at == src.end()) return std::ranges::equal(src, n.src()) ? n : g_.withSrc(n, src);
      const std::vector<UOp> outer(src.begin() + 1, at), inner(at + 1, src.end());
      UOp body = closed(g_, src[0], inner);
      UOp end = g_.make(Op::End, DType::Void, {g_.make(Op::Group, DType::Void, {body, next}), loop_});
      if (underWay_) end = allDone(g_, underWay_, end);
      if (outer.empty() && end.ranges().empty()) return end;
      std::vector<UOp> meet{end};
      if (!byThreads_.empty()) {
        std::vector<UOp> drained{g_.constant(Scalar::ofInt(DType::I32, 0)), end};
        drained.insert(drained.end(), outer.begin(), outer.end());
        meet = {g_.make(Op::Gpu, DType::Void, drained, NameArg{"cp_wait"})};
      }
      if (outer.empty()) return g_.make(Op::Barrier, DType::Void, meet);
      meet.insert(meet.end(), outer.begin(), outer.end());
      return closed(g_, g_.make(Op::Group, DType::Void, {end, g_.make(Op::Barrier, DType::Void, meet)}), outer);
    });
  }

  Graph& g_;
  const GpuTarget& gpu_;
  UOp loop_, underWay_;  // what waits for products of the iteration before, null where none are under way
  std::vector<UOp> filled_, buffers_;
  std::vector<size_t> byThreads_;  // of `filled_`: what no bulk copy fills
  int64_t stages_ = 0;             // the fewest that one of them has: they turn together
  int64_t ahead_ = 0;              // iterations from the copies of a stage to its use
  uint32_t nextRange_;
};

}  // namespace

UOp turnRings(Graph& graph, UOp sink, const GpuTarget& gpu) {
  for (;;) {
    std::vector<UOp> filled;  // of one loop
    for (UOp n : toposort(sink))
      if (isFilledRing(n) && (filled.empty() || loopOf(n) == loopOf(filled[0]))) filled.push_back(n);
    if (filled.empty()) return sink;
    sink = Ring(graph, gpu, loopOf(filled[0]), filled, nextRangeId(sink)).run(sink);
  }
}

UOp keepRings(Graph& graph, UOp sink) {
  std::vector<UOp> from, to;
  for (UOp n : toposort(sink)) {
    if (!isFilledRing(n) || loopOf(n)) continue;
    SlotArg arg = n.src(0).argAs<SlotArg>();
    arg.ring = 0;
    from.push_back(n.src(0)), to.push_back(graph.make(Op::Buffer, n.dtype(), n.src(0).src(), arg));
  }
  return from.empty() ? sink : substitute(graph, sink, from, to);
}

}  // namespace svod
