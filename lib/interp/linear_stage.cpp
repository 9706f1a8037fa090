// Execution of instruction lists. All threads of a workgroup run one after another up to the next barrier, or to the
// next product that the lanes of a warp compute together.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "interp/storage.h"
#include "interp/warp.h"
#include "ir/text.h"

namespace svod {

namespace {

struct Loop {
  size_t begin = 0;  // position of the Range
  size_t end = 0;    // position of the End that closes it
};

/// What an instruction list needs besides itself, found once: positions, loops, storage.
struct Program {
  const LinearKernel& kernel;
  std::unordered_map<uint32_t, size_t> positionOf;  // node id -> position in ops
  std::vector<size_t> loopEnd;                      // by position of a Range: position of its End
  std::vector<size_t> specials;                     // positions
};

Result<Program> prepare(const LinearKernel& kernel) {
  Program p{kernel, {}, std::vector<size_t>(kernel.ops.size(), SIZE_MAX), {}};
  std::vector<size_t> open;
  for (size_t i = 0; i < kernel.ops.size(); ++i) {
    UOp u = kernel.ops[i];
    for (UOp s : u.src())
      if (!p.positionOf.contains(s.id()))
        return fail(Diag::Verify, "used before it stands in the list: " + toLineText(s), "sources come before users");
    if (!p.positionOf.emplace(u.id(), i).second)
      return fail(Diag::Verify, "stands in the list twice: " + toLineText(u), "list every node once");
    if (u.op() == Op::Range) open.push_back(i);
    if (u.op() == Op::Special) p.specials.push_back(i);
    if (u.op() != Op::End) continue;
    for (size_t k = u.srcCount(); k-- > 1;) {  // innermost first
      if (open.empty() || kernel.ops[open.back()] != u.src(k))
        return fail(Diag::Verify, "loops do not nest at " + toLineText(u), "close the innermost open range first");
      p.loopEnd[open.back()] = i;
      open.pop_back();
    }
  }
  if (open.empty()) return p;
  return fail(Diag::Verify, "never closed: " + toLineText(kernel.ops[open.back()]), "add the end of the loop");
}

/// One thread: registers, loop counters and where it stands. `group` storage is shared by its workgroup.
class Thread {
 public:
  Thread(const Program& program, std::span<HostTensor> buffers, const VariableValues& variables,
         std::vector<HostTensor>& group, std::pair<int64_t, int64_t> tiles)
      : program_(program), buffers_(buffers), variables_(variables), group_(group), tiles_(tiles),
        registers_(program.kernel.ops.size()), own_(program.kernel.ops.size()) {}

  void setSpecial(size_t position, int64_t value) {
    registers_[position] = LaneValues(Scalar::ofInt(program_.kernel.ops[position].dtype(), value));
  }

  /// Runs to the next op that threads execute together, or to the end (null).
  Result<UOp> runToMeeting() {
    while (at_ < program_.kernel.ops.size()) {
      UOp u = program_.kernel.ops[at_];
      if (u.op() == Op::Barrier || u.op() == Op::Wmma) return u;
      SVOD_CHECK(step(u));
    }
    return UOp();
  }
  size_t position() const { return at_; }
  const LaneValues& operand(UOp user, size_t i) const { return valueOf(user.src(i)); }
  void leave(LaneValues result = {}) { registers_[at_++] = std::move(result); }

 private:
  size_t positionOf(UOp u) const { return program_.positionOf.at(u.id()); }
  const LaneValues& valueOf(UOp u) const { return registers_[positionOf(u)]; }
  LaneValues& here() { return registers_[at_]; }

  Status step(UOp u) {
    if (u.op() == Op::Range) return enterLoop(u);
    if (u.op() == Op::End) return closeLoops(u);
    SVOD_CHECK(execute(u));
    ++at_;
    return {};
  }

  Status execute(UOp u) {
    if (hasEvalLanes(u)) {
      std::vector<const LaneValues*> operands;
      for (UOp s : u.src()) operands.push_back(&valueOf(s));
      here() = evalLanes(u, operands);
      return {};
    }
    switch (u.op()) {
      case Op::Var: {
        SVOD_TRY(Scalar v, boundVariable(u, variables_));
        here() = LaneValues(v);
        return {};
      }
      case Op::After:
      case Op::Prefetch: here() = valueOf(u.src(0)); return {};
      case Op::Index: here() = valueOf(u.src(1)); return {};
      case Op::Load: return load(u);
      case Op::Store: return store(u);
      case Op::Buffer: openLocal(u); return {};
      case Op::Param:
      case Op::Special:
      case Op::Sink:
      case Op::Group: return {};
      default: return fail(Diag::Verify, "not an instruction: " + toLineText(u), "verify the graph first");
    }
  }

  // -- loops: a counter starts at its Range, and its End steps it or lets the thread pass

  Status enterLoop(UOp range) {
    int64_t first = range == program_.kernel.threadRange ? tiles_.first : 0;
    here() = LaneValues(Scalar::ofInt(range.dtype(), first));
    at_ = first < limitOf(range) ? at_ + 1 : program_.loopEnd[at_] + 1;
    return skippedOuter(range);
  }

  // An empty inner loop whose End also closes outer ranges still has to step those.
  Status skippedOuter(UOp range) {
    if (at_ == 0 || at_ > program_.kernel.ops.size()) return {};
    UOp end = program_.kernel.ops[at_ - 1];
    if (end.op() != Op::End || end.src(1) == range || at_ - 1 != program_.loopEnd[positionOf(range)]) return {};
    for (size_t k = end.srcCount(); k-- > 1;)
      if (end.src(k) == range) return stepOuter(end, k);
    return {};
  }

  Status closeLoops(UOp end) { return stepOuter(end, end.srcCount()); }

  // Steps the ranges of `end` below `count`, innermost first; the first that has a next value runs again.
  Status stepOuter(UOp end, size_t count) {
    for (size_t k = count; k-- > 1;) {
      size_t position = positionOf(end.src(k));
      int64_t next = registers_[position].first.asInt() + 1;
      registers_[position] = LaneValues(Scalar::ofInt(end.src(k).dtype(), next));
      if (next < limitOf(end.src(k))) {
        at_ = position + 1;
        return {};
      }
    }
    at_ = positionOf(end) + 1;
    return {};
  }

  int64_t limitOf(UOp range) const {
    int64_t size = valueOf(range.src(0)).first.asInt();
    return range == program_.kernel.threadRange && tiles_.second >= 0 ? std::min(size, tiles_.second) : size;
  }

  // -- memory

  Result<Address> address(UOp index) {
    UOp storage = storageOf(index.src(0));
    if (storage.op() == Op::Buffer) return Address{index, &localOf(storage), valueOf(index)};
    const size_t slot = storage.op() == Op::Param ? storage.argAs<SlotArg>().slot : program_.kernel.params.size();
    if (slot < program_.kernel.params.size() && program_.kernel.params[slot].param) {
      SVOD_TRY(HostTensor * bound, boundBuffer(storage, slot, buffers_));
      return Address{index, bound, valueOf(index)};
    }
    return fail(Diag::Verify, "not a parameter of the kernel: " + toLineText(storage), "list it in params");
  }

  HostTensor& localOf(UOp buffer) {
    bool shared = buffer.argAs<SlotArg>().space == Space::Local;
    return (shared ? group_ : own_)[positionOf(buffer)];
  }
  void openLocal(UOp buffer) {
    if (localOf(buffer).dtype == DType::Void) localOf(buffer) = makeLocal(buffer);
  }

  Status load(UOp u) {
    SVOD_TRY(Address from, address(u.src(0)));
    bool gated = u.srcCount() > 2;
    SVOD_TRY(here(), loadLanes(u, from, gated ? &valueOf(u.src(1)) : nullptr, gated ? &valueOf(u.src(2)) : nullptr));
    return {};
  }
  Status store(UOp u) {
    SVOD_TRY(Address to, address(u.src(0)));
    return storeLanes(u, to, valueOf(u.src(1)), u.srcCount() > 2 ? &valueOf(u.src(2)) : nullptr);
  }

  const Program& program_;
  std::span<HostTensor> buffers_;
  const VariableValues& variables_;
  std::vector<HostTensor>& group_;
  std::pair<int64_t, int64_t> tiles_;
  std::vector<LaneValues> registers_;  // by position
  std::vector<HostTensor> own_;        // by position of a Reg Buffer
  size_t at_ = 0;
};

bool isThreadIndex(UOp special) { return special.argAs<VarArg>().name.substr(0, 4) == "lidx"; }

/// All combinations of values of some specials.
std::vector<std::vector<int64_t>> combinations(const std::vector<int64_t>& sizes) {
  std::vector<std::vector<int64_t>> all{{}};
  for (int64_t size : sizes) {
    std::vector<std::vector<int64_t>> next;
    for (const auto& head : all)
      for (int64_t v = 0; v < size; ++v) {
        next.push_back(head);
        next.back().push_back(v);
      }
    all = std::move(next);
  }
  return all;
}

/// Threads of a workgroup by their place among its warps, x fastest: positions in `lanes`.
std::vector<size_t> warpOrder(const std::vector<std::string_view>& names, const std::vector<int64_t>& sizes,
                              const std::vector<std::vector<int64_t>>& lanes) {
  std::vector<size_t> byName(names.size()), order(lanes.size());
  for (size_t i = 0; i < byName.size(); ++i) byName[i] = i;
  std::ranges::sort(byName, {}, [&](size_t i) { return names[i]; });
  for (size_t thread = 0; thread < lanes.size(); ++thread) {
    int64_t place = 0;
    for (size_t i = byName.size(); i-- > 0;) place = place * sizes[byName[i]] + lanes[thread][byName[i]];
    order[static_cast<size_t>(place)] = thread;
  }
  return order;
}

class LinearInterpreter {
 public:
  LinearInterpreter(const Program& program, std::span<HostTensor> buffers, const VariableValues& variables,
                    std::pair<int64_t, int64_t> tiles)
      : program_(program), buffers_(buffers), variables_(variables), tiles_(tiles) {}

  Status run() {
    std::vector<size_t> group, thread;
    std::vector<int64_t> groupSizes, threadSizes;
    std::vector<std::string_view> threadNames;
    for (size_t position : program_.specials) {
      UOp u = program_.kernel.ops[position];
      SVOD_TRY(int64_t size, launchSize(u));
      (isThreadIndex(u) ? thread : group).push_back(position);
      (isThreadIndex(u) ? threadSizes : groupSizes).push_back(size);
      if (isThreadIndex(u)) threadNames.push_back(u.argAs<VarArg>().name);
    }
    std::vector<std::vector<int64_t>> lanes = combinations(threadSizes);
    warpOrder_ = warpOrder(threadNames, threadSizes, lanes);
    for (const std::vector<int64_t>& at : combinations(groupSizes)) SVOD_CHECK(runGroup(group, at, thread, lanes));
    return {};
  }

 private:
  // Launch sizes may depend on variables only.
  Result<int64_t> launchSize(UOp special) {
    HostTensor out = HostTensor::zeros(DType::I64, {1});
    Graph graph;
    UOp size = graph.cast(graph.clone(special.src(0)), DType::I64);
    UOp param = graph.make(Op::Param, DType::I64, {graph.index(1)}, SlotArg{0});
    UOp store = graph.make(Op::Store, DType::Void, {graph.make(Op::Index, DType::I64, {param, graph.index(0)}), size});
    SVOD_CHECK(interpretKernel(graph.make(Op::Sink, DType::Void, {store}), std::span(&out, 1), variables_));
    return out.at(0).asInt();
  }

  Status runGroup(std::span<const size_t> group, const std::vector<int64_t>& at, std::span<const size_t> thread,
                  const std::vector<std::vector<int64_t>>& lanes) {
    std::vector<HostTensor> shared(program_.kernel.ops.size());
    std::vector<Thread> threads;
    for (const std::vector<int64_t>& lane : lanes) {
      Thread& t = threads.emplace_back(program_, buffers_, variables_, shared, tiles_);
      for (size_t i = 0; i < group.size(); ++i) t.setSpecial(group[i], at[i]);
      for (size_t i = 0; i < thread.size(); ++i) t.setSpecial(thread[i], lane[i]);
    }
    while (true) {
      UOp meeting;
      for (Thread& t : threads) {
        SVOD_TRY(meeting, t.runToMeeting());
        if (t.position() != threads[0].position()) return divergence();
      }
      if (!meeting) return {};
      if (meeting.op() == Op::Wmma) {
        SVOD_CHECK(multiply(meeting, threads));
      } else {
        for (Thread& t : threads) t.leave();
      }
    }
  }

  Status multiply(UOp wmma, std::span<Thread> threads) const {
    const TensorCore* core = findTensorCore(wmma.argAs<NameArg>().name);
    const size_t size = core ? static_cast<size_t>(core->threads()) : 0;
    if (!core || threads.size() % size != 0)
      return fail(Diag::Verify, "no workgroup of whole warps executes " + toLineText(wmma),
                  "threads of a workgroup are a multiple of those of the tensor core");
    for (size_t warp = 0; warp < threads.size(); warp += size) {
      std::vector<WarpOperands> operands;
      for (size_t lane = 0; lane < size; ++lane) {
        const Thread& t = threads[warpOrder_[warp + lane]];
        operands.push_back({&t.operand(wmma, 0), &t.operand(wmma, 1), &t.operand(wmma, 2)});
      }
      std::vector<LaneValues> results = multiplyTile(*core, wmma.dtype(), operands);
      for (size_t lane = 0; lane < size; ++lane) threads[warpOrder_[warp + lane]].leave(std::move(results[lane]));
    }
    return {};
  }

  Status divergence() const {
    return fail(Diag::Verify, "threads of " + program_.kernel.name + " meet at different barriers",
                "barriers, and products of a warp, must stand where all threads of a workgroup pass");
  }

  const Program& program_;
  std::span<HostTensor> buffers_;
  const VariableValues& variables_;
  std::pair<int64_t, int64_t> tiles_;
  std::vector<size_t> warpOrder_;
};

}  // namespace

Status interpretLinear(const LinearKernel& kernel, std::span<HostTensor> buffers, const VariableValues& variables,
                       int64_t tileBegin, int64_t tileEnd) {
  SVOD_TRY(Program program, prepare(kernel));
  return LinearInterpreter(program, buffers, variables, {tileBegin, tileEnd}).run();
}

}  // namespace svod
