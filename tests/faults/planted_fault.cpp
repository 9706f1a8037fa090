#include "faults/planted_fault.h"

#include <algorithm>

#include "facts/axes.h"
#include "ir/graph.h"
#include "schedule/graph_passes.h"

namespace svod {

namespace {

bool isThread(UOp n) {
  if (n.op() == Op::Special) return n.argAs<VarArg>().name.starts_with("lidx");
  return n.op() == Op::Range && (axisType(n) == AxisType::Local || axisType(n) == AxisType::Group);
}

bool shows(UOp root, FaultIn where) {
  const auto isVector = [](UOp n) { return n.op() == Op::Store && !n.src(1).shape().empty(); };
  return where == FaultIn::All || where == FaultIn::LastBit || std::ranges::any_of(toposort(root), [&](UOp n) {
           return where == FaultIn::Vectors ? isVector(n) : isThread(n);
         });
}

UOp spoiled(Graph& g, UOp root, FaultIn where) {
  if (!shows(root, where)) return root;
  return transform(g, root, [&](UOp n, std::span<const UOp> src) {
    const UOp same = std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    if (n.op() != Op::Store || n.src(1).dtype() != DType::F32) return same;
    const UOp storage = storageOf(n.src(0));
    if (storage.op() != Op::Param && storage.op() != Op::Buffer) return same;
    if (storage.op() == Op::Buffer && storage.argAs<SlotArg>().space != Space::Global) return same;
    std::vector<UOp> sources(same.src().begin(), same.src().end());
    const bool isLarge = where != FaultIn::LastBit;
    const UOp other = g.constant(Scalar::of(DType::F32, isLarge ? 1 : 1 + 0x1p-23));
    sources[1] = g.alu(isLarge ? Op::Add : Op::Mul, {sources[1], other});
    return g.withSrc(same, sources);
  });
}

}  // namespace

Result<UOp> withFault(const Pass& pass, UOp root, PassContext& cx, FaultIn where) {
  auto* job = cx.data.find<GraphJob>();
  if (job == nullptr || pass.out == Stage::Tensor) return spoiled(cx.graph, root, where);
  for (Kernel& kernel : job->schedule->kernels) kernel.sink = spoiled(*kernel.graph, kernel.sink, where);
  return root;
}

}  // namespace svod
