// Lanes that become one, or one for each group.
#include "target/c/op_text.h"
#include "target/webgpu/body.h"

namespace svod::webgpu {

Status printReduce(UOp reduce, WgslBody& body) {
  const UOp x = reduce.src(0);
  std::vector<std::string> lanes;
  for (int lane = 0; lane < x.lanes(); ++lane) lanes.push_back(body.values().ref(x, lane));
  for (size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) {
      const std::string both[2] = {lanes[i], lanes[i + half]};
      const auto step = opText(reduce.argAs<ReduceArg>().op, reduce.dtype(), reduce.dtype(), both);
      if (!step) return missingText(reduce);
      lanes[i] = body.values().name(reduce) + "_" + std::to_string(half) + "_" + std::to_string(i);
      body.let(lanes[i], reduce.dtype(), *step);
    }
  body.values().set(reduce, {lanes[0]});
  return {};
}

void printDot(UOp dot, WgslBody& body) {
  const int group = static_cast<int>(dot.argAs<SlotArg>().slot), lanes = dot.lanes() * group;
  const auto factor = [&](UOp x, int lane, int j) {
    return castText(x.dtype(), dot.dtype(), body.values().ref(x, x.lanes() == lanes ? lane * group + j : j));
  };
  for (int lane = 0; lane < dot.lanes(); ++lane) {
    std::string text = body.values().ref(dot.src(2), lane);
    for (int j = 0; j < group; ++j)
      text = "(" + text + " + (" + factor(dot.src(0), lane, j) + ") * (" + factor(dot.src(1), lane, j) + "))";
    body.define(dot, lane, text);
  }
}

}  // namespace svod::webgpu
