#include "ir/bulk_tensor.h"

#include <algorithm>

#include "ir/gpu_op.h"
#include "ir/graph.h"

namespace svod {

namespace {

std::vector<int64_t> constantsOf(UOp list) {
  std::vector<int64_t> values;
  for (UOp each : list.src()) values.push_back(each.constInt());
  return values;
}

}  // namespace

bool isKnownAtLaunch(UOp u) {
  return std::ranges::none_of(toposort(u), [](UOp n) {
    return n.op() == Op::Range || n.op() == Op::Special || n.op() == Op::Load || n.op() == Op::Gpu;
  });
}

int64_t BulkTensor::boxElements() const {
  int64_t count = 1;
  for (int64_t extent : box) count *= extent;
  return count;
}

BulkTensor bulkTensorOf(UOp node) {
  return {node.src(0),
          {node.src(1).src().begin(), node.src(1).src().end()},
          constantsOf(node.src(2)),
          constantsOf(node.src(3)),
          node.src(4).constInt()};
}

int64_t elementsBehind(UOp node, UOp operand) {
  const GpuOpInfo& row = gpuOpOf(node);
  if (row.does(Issues)) return operand == node.src(0) ? bulkTensorOf(node.src(1)).boxElements() - 1 : 0;
  if (row.does(Makes) || row.does(Arrives) || row.does(Waits)) return 0;
  const BulkTensor map = bulkTensorOf(node);
  int64_t last = 0;
  if (!storageOf(operand).src(0).isConst()) return 0;
  for (size_t i = 0; i < map.extents.size(); ++i)
    if (map.extents[i].isConst()) last += (map.extents[i].constInt() - 1) * map.strides[i];
  return last;
}

}  // namespace svod
