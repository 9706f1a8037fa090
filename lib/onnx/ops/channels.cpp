#include "onnx/ops/channels.h"

#include "onnx/ops/common.h"

namespace svod {

Tensor channelsSecond(Tensor x) {
  if (!x || x.rank() < 3) return x;
  std::vector<int> order = axesFrom(1, x.rank() - 1);
  order.insert(order.begin(), {0, x.rank() - 1});
  return permute(x, order);
}

Tensor channelsLast(Tensor x) {
  if (!x || x.rank() < 3) return x;
  std::vector<int> order = axesFrom(2, x.rank());
  order.insert(order.begin(), 0);
  order.push_back(1);
  return permute(x, order);
}

}  // namespace svod
