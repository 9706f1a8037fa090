// Reductions.
#include "onnx/node.h"

namespace svod {

namespace {

struct Row {
  std::string_view name, graphOp;
};
constexpr Row kRows[] = {{"ReduceSum", "sum"},
                         {"ReduceMean", "mean"},
                         {"ReduceMax", "reduce_max"},
                         {"ReduceMin", "reduce_min"},
                         {"ReduceProd", "prod"}};

}  // namespace

Results onnxReduce(OnnxNode& n) {
  Tensor x = n.arg(0);
  std::vector<int> axes = n.axes(n.integers("axes", 1), x.rank());
  if (n.b.failed()) return Tensor();
  if (axes.empty() && n.flag("noop_with_empty_axes")) return x;
  Attributes attributes = {{"keepdims", n.flag("keepdims")}};
  if (!axes.empty()) attributes.emplace_back("axes", AttributeValue::List(axes.begin(), axes.end()));
  for (const Row& row : kRows)
    if (row.name == n.op.name) {
      Tensor result = n.call(row.graphOp, {x}, attributes);
      return cast(result, x.dtype());
    }
  return Tensor();
}

}  // namespace svod
