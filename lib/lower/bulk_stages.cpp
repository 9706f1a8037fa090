#include "lower/bulk_stages.h"

#include <algorithm>

#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "ir/workgroup.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

bool knowsThread(UOp n) { return std::ranges::any_of(toposort(n), isThreadIndex); }

int64_t threadsOf(UOp sink) {
  int64_t threads = 1;
  for (UOp n : toposort(sink))
    if (isThreadIndex(n)) threads *= n.src(0).isConst() ? n.src(0).constInt() : 0;
  return threads;
}

/// Whether a store happens once, whoever the thread is.
bool isOnce(UOp store) {
  if (store.srcCount() < 3) return true;
  return std::ranges::none_of(toposort(store.src(2)), [](UOp n) {
    return n.op() == Op::Range || n.op() == Op::Var || n.op() == Op::Load ||
           (n.op() == Op::Special && !isThreadIndex(n));
  });
}

}  // namespace

std::vector<UOp> loopsAround(UOp sink, UOp loop) {
  const std::vector<UOp> all = toposort(sink);
  std::vector<UOp> around, ordered;
  for (UOp n : all)
    if (n.op() == Op::End)
      if (const auto at = std::ranges::find(n.src().subspan(1), loop); at != n.src().end()) {
        around.assign(n.ranges().begin(), n.ranges().end());
        around.insert(around.end(), n.src().begin() + 1, at);
      }
  for (size_t i = all.size(); i-- > 0;)  // ends of outer loops stand behind those of inner ones
    if (all[i].op() == Op::End)
      for (UOp r : all[i].src().subspan(1))
        if (std::ranges::find(around, r) != around.end()) ordered.push_back(r);
  return ordered;
}

BulkStages::BulkStages(Graph& graph, const GpuTarget& gpu, UOp sink, UOp loop, std::vector<UOp> outer)
    : g_(graph), sink_(sink), loop_(loop), outer_(std::move(outer)) {
  const int64_t threads = threadsOf(sink);
  isPossible_ = hasGpuOp("bulk_load", gpu.family, gpu.generation) && threads > 0 && threads % kWarpLanes == 0;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Buffer && n.argAs<SlotArg>().space == Space::Local)
      slot_ = std::max(slot_, n.argAs<SlotArg>().slot + 1);
}

bool BulkStages::take(std::span<const UOp> effects, UOp buffer, UOp ring) {
  if (!isPossible_ || effects.size() != 1 || effects[0].op() != Op::End) return false;
  const UOp store = effects[0].src(0);
  if (store.op() != Op::Store || !isOnce(store)) return false;
  std::optional<TensorBox> box = boxOf(store, effects[0].src().subspan(1));
  if (!box || !isUsedOnce(sink_, box->param)) return false;
  for (const TensorBox::Coordinate& at : box->at)
    for (const TensorBox::Term& term : at.terms)
      if (knowsThread(term.value)) return false;
  const SlotArg& arg = buffer.argAs<SlotArg>();
  const UOp map = mapOf(*box, arg.swizzle > 0 ? int64_t{1} << arg.swizzle : 0);
  copies_.push_back({std::move(*box), map, ring, stageElements(buffer)});
  return true;
}

UOp BulkStages::mapOf(const TensorBox& box, int64_t swizzle) {
  const auto list = [&](const std::vector<int64_t>& values) {
    std::vector<UOp> all;
    for (int64_t value : values) all.push_back(g_.index(value));
    return g_.make(Op::Stack, DType::Index, all);
  };
  std::vector<UOp> extents;
  for (const TensorBox::Extent& extent : box.extents)
    extents.push_back(extent.of ? simplify(g_, g_.alu(Op::Add, {extent.of, g_.index(extent.more)}))
                                : g_.index(extent.more));
  UOp first = g_.index(0);
  return g_.make(Op::Gpu, DType::Void,
                 {g_.indexInto(box.param, {&first, 1}), g_.make(Op::Stack, DType::Index, extents), list(box.strides),
                  list(box.box), g_.index(swizzle)},
                 NameArg{"tensor_map"});
}

UOp BulkStages::made(int64_t stages) {
  stages_ = stages;
  UOp size = g_.index(stages);
  mbarriers_ = g_.make(Op::Buffer, DType::U64, {size}, SlotArg{slot_, Space::Local});
  elected_ = g_.make(Op::Gpu, DType::Bool, {}, NameArg{"elect"});
  std::vector<UOp> inits;
  for (int64_t i = 0; i < stages; ++i)
    inits.push_back(
        g_.make(Op::Gpu, DType::Void, {mbarrierOf(g_.index(i)), g_.index(1), elected_}, NameArg{"mbar_init"}));
  return g_.make(Op::Gpu, DType::Void, inits, NameArg{"fence_async"});
}

UOp BulkStages::coordinate(const TensorBox::Coordinate& at, UOp step) {
  UOp sum = g_.index(at.constant);
  for (const TensorBox::Term& term : at.terms)
    sum = g_.alu(Op::Add, {sum, g_.alu(Op::Mul, {term.value, g_.index(term.times)})});
  return simplify(g_, substitute(g_, sum, {&loop_, 1}, {&step, 1}));
}

UOp BulkStages::started(UOp step, UOp stage, UOp exists, std::span<const UOp> after, UOp loop) {
  UOp gate = exists.isConst(1) ? elected_ : g_.alu(Op::And, {elected_, exists}), bar = mbarrierOf(stage);
  int64_t bytes = 0;
  for (const Copy& copy : copies_) bytes += copy.box.bytes;
  std::vector<UOp> expect{bar, g_.index(bytes), gate};
  expect.insert(expect.end(), after.begin(), after.end());
  if (loop) expect.push_back(loop);
  UOp expected = g_.make(Op::Gpu, DType::Void, expect, NameArg{"mbar_expect"});
  std::vector<UOp> loads;
  for (const Copy& copy : copies_) {
    UOp place = simplify(g_, g_.alu(Op::Mul, {stage, g_.index(copy.elements)}));
    std::vector<UOp> at;
    for (const TensorBox::Coordinate& each : copy.box.at) at.push_back(coordinate(each, step));
    loads.push_back(g_.make(
        Op::Gpu, DType::Void,
        {g_.indexInto(copy.ring, {&place, 1}), copy.map, g_.make(Op::Stack, DType::Index, at), bar, gate, expected},
        NameArg{"bulk_load"}));
  }
  return loads.size() == 1 ? loads[0] : g_.make(Op::Group, DType::Void, loads);
}

UOp BulkStages::arrived(std::span<const UOp> after) {
  UOp stages = g_.index(stages_), stage = simplify(g_, g_.alu(Op::Floormod, {loop_, stages}));
  UOp phase = g_.alu(Op::Floordiv, {loop_, stages});
  if (!outer_.empty()) {
    UOp before = g_.index(0);  // how often the loop has run
    for (UOp r : outer_) before = g_.alu(Op::Add, {g_.alu(Op::Mul, {before, r.src(0)}), r});
    UOp left = g_.alu(Op::Add, {g_.alu(Op::Sub, {loop_.src(0), stage}), g_.index(stages_ - 1)});
    phase = g_.alu(Op::Add, {g_.alu(Op::Mul, {before, g_.alu(Op::Floordiv, {left, stages})}), phase});
  }
  UOp parity = simplify(g_, g_.alu(Op::Floormod, {phase, g_.index(2)}));
  std::vector<UOp> src{mbarrierOf(stage), parity};
  src.insert(src.end(), after.begin(), after.end());
  src.push_back(loop_);
  return g_.make(Op::Gpu, DType::Void, src, NameArg{"mbar_wait"});
}

}  // namespace svod
