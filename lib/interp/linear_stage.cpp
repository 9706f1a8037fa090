// Execution of instruction lists. All threads of a workgroup run one after another up to the next barrier, or to the
// next product that the lanes of a warp compute together.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "interp/products.h"
#include "interp/thread.h"
#include "interp/warp.h"
#include "ir/gpu_op.h"
#include "ir/text.h"
#include "ir/workgroup.h"

namespace svod {

namespace {

Result<PreparedKernel> prepare(const LinearKernel& kernel) {
  PreparedKernel p{kernel, {}, std::vector<size_t>(kernel.ops.size(), kNoPosition), {}};
  size_t ids = 0;
  for (UOp u : kernel.ops) ids = std::max<size_t>(ids, u.id() + 1);
  p.positionOf.assign(ids, kNoPosition);
  std::vector<size_t> open;
  for (size_t i = 0; i < kernel.ops.size(); ++i) {
    UOp u = kernel.ops[i];
    for (UOp s : u.src())
      if (s.id() >= ids || p.positionOf[s.id()] == kNoPosition)
        return fail(Diag::Verify, "used before it stands in the list: " + toLineText(s), "sources come before users");
    if (p.positionOf[u.id()] != kNoPosition)
      return fail(Diag::Verify, "stands in the list twice: " + toLineText(u), "list every node once");
    p.positionOf[u.id()] = i;
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
  LinearInterpreter(const PreparedKernel& program, std::span<HostTensor> buffers, const VariableValues& variables,
                    std::pair<int64_t, int64_t> tiles, const LaunchExtents* extents = nullptr)
      : program_(program), buffers_(buffers), variables_(variables), tiles_(tiles), extents_(extents) {}

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
    if (extents_ != nullptr) {
      const auto axis = static_cast<size_t>(special.argAs<VarArg>().name.back() - '0');
      return (isThreadIndex(special) ? extents_->threads : extents_->groups).at(axis);
    }
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
    GroupMemory shared{std::vector<HostTensor>(program_.kernel.ops.size()), {}};
    std::vector<Thread> threads;
    products_.assign(lanes.size() / kWarpgroupLanes, {});
    for (const std::vector<int64_t>& lane : lanes) {
      Thread& t = threads.emplace_back(program_, buffers_, variables_, shared, tiles_);
      for (size_t i = 0; i < group.size(); ++i) t.setSpecial(group[i], at[i]);
      for (size_t i = 0; i < thread.size(); ++i) t.setSpecial(thread[i], lane[i]);
    }
    while (true) {
      SVOD_TRY(const UOp meeting, runToMeeting(threads));
      if (!meeting) return {};
      if (meeting.op() == Op::Wmma) {
        SVOD_CHECK(multiply(meeting, threads));
      } else if (meeting.op() == Op::Gpu && gpuOpOf(meeting).scope == GpuScope::Warpgroup) {
        SVOD_CHECK(multiplyInMemory(meeting, threads));
      } else if (meeting.op() == Op::Gpu) {
        SVOD_CHECK(exchange(meeting, threads));
      } else {
        for (Thread& t : threads) t.leave();
      }
    }
  }

  /// All threads to the same place. Who waits at an mbarrier goes on when others have come to theirs.
  Result<UOp> runToMeeting(std::span<Thread> threads) const {
    std::vector<bool> isThere(threads.size(), false);
    UOp meeting;
    for (bool moved = true; moved;) {
      moved = false;
      UOp waiting;
      for (size_t i = 0; i < threads.size(); ++i) {
        if (isThere[i]) continue;
        const size_t before = threads[i].position();
        SVOD_TRY(const UOp at, threads[i].runToMeeting());
        isThere[i] = !threads[i].isWaiting();
        (isThere[i] ? meeting : waiting) = at;
        moved |= isThere[i] || threads[i].position() != before;
      }
      if (!waiting) break;
      if (!moved)
        return fail(Diag::Verify, "threads wait without end: " + toLineText(waiting),
                    "all bytes that a phase expects arrive in it, and somebody starts their copies");
    }
    for (const Thread& t : threads)
      if (t.position() != threads[0].position()) return divergence();
    return meeting;
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

  Status exchange(UOp node, std::span<Thread> threads) const {
    for (size_t first = 0; first < threads.size(); first += kWarpLanes) {
      std::vector<Thread*> warp;
      for (size_t lane = first; lane < std::min(threads.size(), first + kWarpLanes); ++lane)
        warp.push_back(&threads[warpOrder_[lane]]);
      SVOD_TRY(std::vector<LaneValues> results, gpuOpOf(node).result == GpuResult::Flag
                                                    ? elected(warp.size(), first == 0)
                                                : gpuOpOf(node).does(ReadsShared) ? loadMatrices(node, warp)
                                                                                  : shuffle(node, warp));
      for (size_t lane = 0; lane < warp.size(); ++lane) warp[lane]->leave(std::move(results[lane]));
    }
    return {};
  }

  Status multiplyInMemory(UOp node, std::span<Thread> threads) {
    if (threads.size() % kWarpgroupLanes != 0)
      return fail(Diag::Verify, "no workgroup of whole warpgroups executes " + toLineText(node),
                  "threads of a workgroup are a multiple of 128");
    for (size_t group = 0; group < products_.size(); ++group) {
      std::vector<Thread*> lanes;
      for (size_t lane = 0; lane < kWarpgroupLanes; ++lane)
        lanes.push_back(&threads[warpOrder_[group * kWarpgroupLanes + lane]]);
      SVOD_CHECK(products_[group].execute(node, lanes));
      for (Thread* lane : lanes) lane->leave();
    }
    return {};
  }

  /// The first lane of the first warp.
  static Result<std::vector<LaneValues>> elected(size_t lanes, bool isFirst) {
    std::vector<LaneValues> flags(lanes, LaneValues(Scalar::of(DType::Bool, 0)));
    if (isFirst) flags[0] = LaneValues(Scalar::of(DType::Bool, 1));
    return flags;
  }

  static Result<std::vector<LaneValues>> shuffle(UOp node, std::span<Thread* const> warp) {
    const int64_t mask = node.src(1).constInt();
    std::vector<const LaneValues*> values;
    for (const Thread* t : warp) values.push_back(&t->operand(node, 0));
    if (mask < kWarpLanes && warp.size() % static_cast<size_t>(std::bit_ceil(static_cast<uint64_t>(mask) + 1)) == 0)
      return shuffled(values, mask);
    return fail(Diag::Verify, "a lane takes the value of one that is not there: " + toLineText(node),
                "a warp has a multiple of the threads that a shuffle goes through");
  }

  static Result<std::vector<LaneValues>> loadMatrices(UOp node, std::span<Thread* const> warp) {
    if (warp.size() != kWarpLanes)
      return fail(Diag::Verify, "no whole warp executes " + toLineText(node), "use workgroups of whole warps");
    std::vector<std::array<uint16_t, 8>> rows(static_cast<size_t>(gpuOpOf(node).words()) * 8);
    for (size_t lane = 0; lane < rows.size(); ++lane) {
      SVOD_TRY(const Address row, warp[lane]->address(node.src(0)));
      SVOD_TRY(const std::byte* piece, pieceAt(node, row, kMatrixRowBytes));
      std::memcpy(rows[lane].data(), piece, sizeof rows[lane]);
    }
    return matrixWords(rows, gpuOpOf(node).name.ends_with("_trans"));
  }

  tl::unexpected<Error> divergence() const {
    return fail(Diag::Verify, "threads of " + program_.kernel.name + " meet at different barriers",
                "barriers, and products of a warp, must stand where all threads of a workgroup pass");
  }

  const PreparedKernel& program_;
  std::span<HostTensor> buffers_;
  const VariableValues& variables_;
  std::pair<int64_t, int64_t> tiles_;
  const LaunchExtents* extents_;  // null: those of the kernel
  std::vector<size_t> warpOrder_;
  std::vector<Products> products_;  // by warpgroup
};

}  // namespace

Status interpretLinear(const LinearKernel& kernel, std::span<HostTensor> buffers, const VariableValues& variables,
                       int64_t tileBegin, int64_t tileEnd) {
  SVOD_TRY(PreparedKernel program, prepare(kernel));
  return LinearInterpreter(program, buffers, variables, {tileBegin, tileEnd}).run();
}

Status interpretLinear(const LinearKernel& kernel, std::span<HostTensor> buffers, const VariableValues& variables,
                       const LaunchExtents& extents) {
  SVOD_TRY(PreparedKernel program, prepare(kernel));
  return LinearInterpreter(program, buffers, variables, {0, -1}, &extents).run();
}

}  // namespace svod
