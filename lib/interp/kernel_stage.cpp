// Evaluation of kernel and lowered graphs by recursion: a value or effect is computed when it is needed and kept until
// one of its open ranges takes another value. An End, Reduce or Fill runs the loops it closes.
#include <fmt/format.h>

#include <algorithm>

#include "interp/storage.h"
#include "ir/gpu_op.h"
#include "ir/text.h"

namespace svod {

namespace {

/// Of one node.
struct Computed {
  LaneValues value;
  bool looping = false;  // a range inside its loop
  HostTensor storage;    // of a Buffer
};

LaneValues spread(const LaneValues& alt, UOp like) {
  if (like.isScalar() || alt.isVector()) return alt;
  return LaneValues(std::vector<Scalar>(static_cast<size_t>(like.lanes()), alt.first));
}

/// The buffer of a fill before anything is folded into it.
HostTensor makeFilled(UOp buffer, const Scalar& value) {
  HostTensor storage = makeLocal(buffer);
  for (int64_t i = 0; i < buffer.maxNumel(); ++i) storage.set(i, value);
  return storage;
}

Status loopsTwice(UOp counter) {
  return fail(Diag::Verify, "a loop over " + toLineText(counter) + " stands inside another one over it",
              "give nested loops ranges of their own");
}

Result<LaneValues> outsideLoop(UOp counter) {
  return fail(Diag::Verify, "the value of " + toLineText(counter) + " is used outside its loop",
              "verify the graph first");
}

/// What comes before a loop happens where the loop does not run, too: an accumulator gets its first value.
template <class Execute>
Status beforeLoop(UOp end, Execute execute) {
  const auto isInside = [&](UOp n) {
    return std::ranges::any_of(end.src().subspan(1), [&](UOp r) { return n.dependsOn(r); });
  };
  for (UOp n : toposort(end.src(0))) {
    if (n.op() != Op::After || !isInside(n)) continue;
    for (UOp effect : n.src().subspan(1))
      if (!isInside(effect)) SVOD_CHECK(execute(effect));
  }
  return {};
}

/// When nodes were computed. A range's time is when it took its present value.
class Times {
 public:
  explicit Times(size_t nodes) : times_(nodes) {}

  void stamp(UOp u) {
    times_[u.id()] = ++clock_;
    if (u.op() == Op::Special) specialTime_ = clock_;
  }

  /// While no open range moved on since. The first source of a Fill counts through the Fill's own ranges.
  bool isCurrent(UOp u) const {
    const uint64_t then = times_[u.id()];
    if (u.op() == Op::Special) return then > 0;
    if (then == 0 || then < specialTime_) return false;
    return std::ranges::none_of(u.ranges(), [&](UOp r) { return times_[r.id()] > then; });
  }

 private:
  std::vector<uint64_t> times_;  // by node id
  uint64_t clock_ = 0, specialTime_ = 0;
};

class KernelInterpreter {
 public:
  KernelInterpreter(UOp sink, std::span<HostTensor> buffers, const VariableValues& variables)
      : sink_(sink), buffers_(buffers), variables_(variables), slots_(sink.id() + 1), times_(sink.id() + 1) {}

  Status run() {
    std::vector<UOp> specials;
    for (UOp n : toposort(sink_)) {
      if (n.op() == Op::Special) specials.push_back(n);
      if (n.op() == Op::Barrier || n.op() == Op::Wmma || (n.op() == Op::Gpu && !isGpuOfLane(n)))
        return fail(Diag::Unsupported, std::string(toText(n.op())) + " needs threads in lock step",
                    "linearize the kernel and interpret that");
    }
    return loop(specials, 0, [this] { return execute(sink_); });
  }

 private:
  Computed& slot(UOp u) { return slots_[u.id()]; }

  template <class Body>
  Status loop(std::span<const UOp> counters, size_t depth, Body body) {
    if (depth == counters.size()) return body();
    UOp counter = counters[depth];
    if (slot(counter).looping) return loopsTwice(counter);
    SVOD_TRY(const LaneValues* end, value(counter.src(0)));
    int64_t count = end->first.asInt();
    slot(counter).looping = true;
    for (int64_t i = 0; i < count; ++i) {
      slot(counter).value = LaneValues(Scalar::ofInt(counter.dtype(), i));
      times_.stamp(counter);
      SVOD_CHECK(loop(counters, depth + 1, body));
    }
    slot(counter).looping = false;
    return {};
  }

  // -- effects

  Status execute(UOp u) {
    if (times_.isCurrent(u)) return {};
    SVOD_CHECK(effect(u));
    times_.stamp(u);
    return {};
  }

  Status effect(UOp u) {
    switch (u.op()) {
      case Op::Sink:
      case Op::Group:
      case Op::After:
        for (UOp s : u.src()) SVOD_CHECK(execute(s));
        return {};
      case Op::End: {
        bool hasRun = false;
        SVOD_CHECK(loop(u.src().subspan(1), 0, [&] { return hasRun = true, execute(u.src(0)); }));
        return hasRun ? Status() : beforeLoop(u, [&](UOp effect) { return execute(effect); });
      }
      case Op::Store: return store(u);
      case Op::Range:
      case Op::Buffer:
      case Op::Param: return {};
      case Op::Prefetch: return execute(u.src(0));
      case Op::Fill: return runFill(u);
      default: SVOD_CHECK(value(u)); return {};
    }
  }

  // With a fold, combines what it stores with what is there.
  Status store(UOp u, Op fold = Op::Store) {
    const LaneValues* gate = nullptr;
    if (u.srcCount() > 2) {
      SVOD_TRY(gate, value(u.src(2)));
      if (!anyLane(*gate)) return {};
    }
    SVOD_TRY(const LaneValues* stored, value(u.src(1)));
    SVOD_TRY(Address to, address(u.src(0)));
    if (fold == Op::Store) return storeLanes(u, to, *stored, gate);
    SVOD_TRY(LaneValues present, loadLanes(u.src(1), to, stored, gate));
    return storeLanes(u, to, combine(fold, u.src(1).dtype(), present, *stored), gate);
  }

  // -- values

  Result<const LaneValues*> value(UOp u) {
    Computed& computed = slot(u);
    if (times_.isCurrent(u)) return &computed.value;
    if (hasEvalLanes(u)) {
      SVOD_CHECK(computeLanes(u, computed.value));
    } else {
      SVOD_TRY(computed.value, compute(u));
    }
    times_.stamp(u);
    return &computed.value;
  }

  Result<LaneValues> compute(UOp u) {
    switch (u.op()) {
      case Op::Load: return load(u);
      case Op::Reduce: return reduce(u);
      case Op::Var: {
        SVOD_TRY(Scalar v, boundVariable(u, variables_));
        return LaneValues(v);
      }
      case Op::After: {
        for (UOp dep : u.src().subspan(1)) SVOD_CHECK(execute(dep));
        SVOD_TRY(const LaneValues* v, value(u.src(0)));
        return *v;
      }
      case Op::Range:
      case Op::Special: return outsideLoop(u);
      default: return fail(Diag::Verify, "not a value: " + toLineText(u), "verify the graph first");
    }
  }

  Status computeLanes(UOp u, LaneValues& out) {
    const LaneValues* few[4];
    std::vector<const LaneValues*> many;
    std::span<const LaneValues*> operands(few, std::min<size_t>(u.srcCount(), 4));
    if (u.srcCount() > 4) many.resize(u.srcCount()), operands = many;
    for (size_t i = 0; i < u.srcCount(); ++i) {
      SVOD_TRY(operands[i], value(u.src(i)));
    }
    evalLanes(u, operands, out);
    return {};
  }

  Result<LaneValues> load(UOp u) {
    const LaneValues *alt = nullptr, *gate = nullptr;
    if (u.srcCount() > 2) {
      SVOD_TRY(alt, value(u.src(1)));
      SVOD_TRY(gate, value(u.src(2)));
      if (!anyLane(*gate)) return spread(*alt, u);
    }
    SVOD_TRY(Address from, address(u.src(0)));
    return loadLanes(u, from, alt, gate);
  }

  Result<LaneValues> reduce(UOp u) {
    Op op = u.argAs<ReduceArg>().op;
    LaneValues total = spread(LaneValues(identity(op, u.dtype())), u);
    SVOD_CHECK(loop(u.src().subspan(1), 0, [&]() -> Status {
      SVOD_TRY(const LaneValues* element, value(u.src(0)));
      total = combine(op, u.dtype(), total, *element);
      return {};
    }));
    return total;
  }

  // -- storage

  Result<Address> address(UOp index) {
    SVOD_TRY(HostTensor * storage, storage(index.src(0)));
    if (index.srcCount() == 2) {
      SVOD_TRY(const LaneValues* only, value(index.src(1)));
      return Address{index, storage, *only};
    }
    std::vector<const LaneValues*> at;
    for (UOp s : index.src().subspan(1)) {
      SVOD_TRY(const LaneValues* v, value(s));
      at.push_back(v);
    }
    return Address{index, storage, flatIndex(constDims(index.src(0)), at)};
  }

  Result<HostTensor*> storage(UOp u) {
    switch (u.op()) {
      case Op::After:
        for (UOp dep : u.src().subspan(1)) SVOD_CHECK(execute(dep));
        return storage(u.src(0));
      case Op::Prefetch: return storage(u.src(0));
      case Op::Param: return boundBuffer(u, u.argAs<SlotArg>().slot, buffers_);
      case Op::Buffer:
        if (slot(u).storage.dtype == DType::Void) slot(u).storage = makeLocal(u);
        return &slot(u).storage;
      case Op::Fill: SVOD_CHECK(runFill(u)); return &slot(storageOf(u.src(0).src(0))).storage;
      default: return fail(Diag::Verify, "not storage: " + toLineText(u), "verify the graph first");
    }
  }

  Status runFill(UOp u) {
    if (times_.isCurrent(u)) return {};
    UOp buffer = storageOf(u.src(0).src(0));
    const Op op = u.argAs<ReduceArg>().op;
    const bool folds = op != Op::Store;
    slot(buffer).storage = folds ? makeFilled(buffer, identity(op, u.dtype())) : makeLocal(buffer);
    SVOD_CHECK(loop(u.src().subspan(1), 0, [&] { return folds ? store(u.src(0), op) : execute(u.src(0)); }));
    times_.stamp(u);
    return {};
  }

  UOp sink_;
  std::span<HostTensor> buffers_;
  const VariableValues& variables_;
  std::vector<Computed> slots_;  // by node id
  Times times_;
};

}  // namespace

Status interpretKernel(UOp sink, std::span<HostTensor> buffers, const VariableValues& variables) {
  return KernelInterpreter(sink, buffers, variables).run();
}

}  // namespace svod
