// ONNX ops that come to elementwise functions of their inputs are one kernel each.
#include <catch2/catch.hpp>
#include <set>

#include "onnx/op_table.h"
#include "onnx_maker.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

/// An op of inputs of 1000 elements, where that makes a model of elementwise values alone.
std::optional<Model> elementwise(const OnnxOp& op, int type) {
  OnnxMaker m(std::min(kNewestOnnxOpset, 24));
  OnnxMaker::Names inputs;
  for (int i = 0; i < op.minInputs; ++i) m.input(inputs.emplace_back("x" + std::to_string(i)), {"1000"}, type);
  m.node(std::string(op.name), inputs, {"y"});
  m.output("y", type);
  OnnxImport import = m.import();
  if (!import.model) return std::nullopt;
  for (UOp n : toposort(import.model->sink)) {
    const bool isPlain = isElementwise(n.op()) || n.op() == Op::Buffer || n.op() == Op::Const || n.op() == Op::Store ||
                         n.op() == Op::Sink;
    if (!isPlain) return std::nullopt;
  }
  return std::move(*import.model);
}

}  // namespace

TEST_CASE("every elementwise op of ONNX is one kernel without a buffer between") {
  std::set<std::string_view> shown;
  for (const OnnxOp& op : allOnnxOps()) {
    if (op.name.find("::") != std::string_view::npos || op.minInputs < 1 || op.minInputs > 3) continue;
    for (int type : {1, 6, 9}) {  // f32, i32, bool
      std::optional<Model> model = elementwise(op, type);
      if (!model) continue;
      auto schedule = makeSchedule(*model, {Numerics::Contract});
      REQUIRE(schedule);
      INFO(op.name << " of opset " << op.since);
      CHECK(schedule->items.size() <= 1);
      CHECK(schedule->buffers.size() == model->ports.size());
      shown.insert(op.name);
      break;
    }
  }
  for (const char* name : {"Atan", "Asin", "Acos", "Erf", "Gelu", "Mish", "Sinh", "Asinh", "Atanh"}) {
    INFO(name);
    CHECK(shown.contains(name));
  }
  CHECK(shown.size() > 60);
}
