#include "ir/workgroup.h"

#include <algorithm>
#include <bit>
#include <set>

#include "ir/gpu_op.h"

namespace svod {

namespace {

AxisType typeOf(UOp range) { return range.argAs<AxisArg>().type; }
uint32_t idOf(UOp range) { return range.argAs<AxisArg>().id; }

using Pairs = std::set<std::pair<uint32_t, uint32_t>>;  // of node ids

/// Thread ranges that are open together somewhere, or closed together.
Pairs openTogether(UOp sink) {
  Pairs pairs;
  std::vector<UOp> open;
  for (UOp n : toposort(sink)) {
    open.clear();
    for (UOp r : n.ranges())
      if (isThread(r)) open.push_back(r);
    const bool closes = n.op() == Op::End || n.op() == Op::Reduce || n.op() == Op::Fill;
    if (closes)
      for (UOp r : n.src().subspan(1))
        if (r.op() == Op::Range && isThread(r)) open.push_back(r);
    for (UOp a : open)
      for (UOp b : open)
        if (a != b) pairs.emplace(a.id(), b.id());
  }
  return pairs;
}

}  // namespace

bool isThread(UOp range) { return typeOf(range) == AxisType::Local || typeOf(range) == AxisType::Group; }

bool isThreadIndex(UOp node) { return node.op() == Op::Special && node.argAs<VarArg>().name.starts_with("lidx"); }

std::vector<ThreadDim> threadDimsOf(UOp sink) {
  std::vector<UOp> ranges;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range && isThread(n)) ranges.push_back(n);
  if (ranges.empty()) return {};
  std::ranges::sort(ranges, {}, idOf);
  const Pairs together = openTogether(sink);
  std::vector<ThreadDim> dims;
  for (UOp r : ranges) {
    const auto takes = [&](const ThreadDim& dim) {
      return dim.range().src(0) == r.src(0) &&
             std::ranges::none_of(dim.ranges, [&](UOp other) { return together.contains({r.id(), other.id()}); });
    };
    const auto dim = std::ranges::find_if(dims, takes);
    if (dim == dims.end()) {
      dims.push_back({{r}});
    } else {
      dim->ranges.push_back(r);
    }
  }
  std::ranges::sort(dims, {}, [](const ThreadDim& dim) { return idOf(dim.range()); });
  return dims;
}

int64_t workgroupThreads(UOp sink) {
  int64_t threads = 1;
  for (const ThreadDim& dim : threadDimsOf(sink)) threads *= dim.range().src(0).bounds().max;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range && typeOf(n) == AxisType::Warp) threads *= n.src(0).bounds().max;
  return threads;
}

bool isShuffled(UOp sink, UOp range) {
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range && typeOf(n) == AxisType::Warp) return false;
  const std::vector<ThreadDim> dims = threadDimsOf(sink);
  if (dims.empty() || !range.src(0).isConst()) return false;
  const auto& fastest = dims.back().ranges;
  const int64_t n = range.src(0).constInt();
  return std::ranges::find(fastest, range) != fastest.end() && n > 1 && n <= int64_t{kWarpLanes} * kWarpLanes &&
         std::has_single_bit(static_cast<uint64_t>(n));
}

}  // namespace svod
