// Elementwise functions of inputs are one kernel each, however often their decomposition uses a value.
#include <catch2/catch.hpp>
#include <set>

#include "common/model_text.h"
#include "frontend/graph_op.h"
#include "schedule/element_dag.h"
#include "schedule/kernel_size.h"
#include "schedule/schedule.h"
#include "tensor/work.h"

using namespace svod;

namespace {

const std::set<std::string_view> kThemes = {"Elementwise arithmetic", "Elementwise transcendentals",
                                            "Bits, comparisons and choices", "Activations"};

std::string call(const GraphOp& op, const std::string& x) {
  std::string text = std::string(op.name) + "(" + x;
  for (int i = 1; i < op.minOperands; ++i) text += i == 1 ? ", b" : ", c";
  if (op.name == "cast") text += ", dtype=f64";
  if (op.name == "bitcast") text += ", dtype=u32";
  return text + ")";
}

std::optional<Model> built(const std::string& expression, const std::string& dtype) {
  std::string text = "svod 1\n";
  for (const char* name : {"a", "b", "c"}) text += "input " + std::string(name) + ": " + dtype + "[1000]\n";
  Result<GraphFile> file = parseGraph(text + "output y = " + expression + "\n", "chain.svod");
  if (!file) return std::nullopt;
  Result<Model> model = buildModel(*file, {});
  return model ? std::optional(std::move(*model)) : std::nullopt;
}

/// Kernels and buffers of the expression, which is of floats or, where those do not do, of integers.
bool isOneKernel(const std::string& expression) {
  for (const char* dtype : {"f32", "i32"})
    if (std::optional<Model> model = built(expression, dtype)) {
      auto schedule = makeSchedule(*model, {Numerics::Contract});
      REQUIRE(schedule);
      return schedule->items.size() == 1 && schedule->buffers.size() == model->ports.size();
    }
  FAIL("no dtype does for " << expression);
  return false;
}

std::vector<const GraphOp*> elementwiseOps() {
  std::vector<const GraphOp*> ops;
  for (const GraphOp& op : allGraphOps())
    if (kThemes.contains(op.theme)) ops.push_back(&op);
  return ops;
}

}  // namespace

TEST_CASE("every elementwise op of graph files is one kernel without a buffer between") {
  REQUIRE(elementwiseOps().size() > 70);
  for (const GraphOp* op : elementwiseOps()) {
    INFO(op->name);
    CHECK(isOneKernel(call(*op, "a")));
  }
}

TEST_CASE("two functions of floats, one of the other, are one kernel without a buffer between") {
  std::vector<const GraphOp*> functions;
  for (const GraphOp* op : elementwiseOps())
    if (op->minOperands == 1 && op->name != "bitcast" && built(call(*op, "a"), "f32")) functions.push_back(op);
  REQUIRE(functions.size() > 45);
  for (const GraphOp* outer : functions)
    for (const GraphOp* inner : functions) {
      const std::string expression = call(*outer, "cast(" + call(*inner, "a") + ", dtype=f32)");
      INFO(expression);
      if (built(expression, "f32")) CHECK(isOneKernel(expression));
    }
}

TEST_CASE("the angle of two numbers, from an arc tangent, is one kernel") {
  CHECK(isOneKernel("where(a > 0, atan(b / a), atan(b / a) + where(b < 0, -3.1415927, 3.1415927))"));
  CHECK(isOneKernel("acos(a) * asin(b) + atan(c)"));
}

TEST_CASE("an element counts a value once for each index that it is read at") {
  const auto opsOf = [](const std::string& text) {
    Model model = modelOf("input x: f32[8, 8]\n" + text);
    const std::vector<UOp> order = toposort(model.sink);
    const std::vector<bool> isMath = indexMath(order, idsBelow(order));
    ElementDag dag(isMath.size(), isMath);
    const UOp value = model.sink.src(0).src(1);
    dag.find({&value, 1}, [](UOp n) { return n.op() == Op::Buffer; });
    return std::ranges::count_if(dag.items(), [](const ElementDag::Item& i) { return isElementwise(i.node.op()); });
  };
  CHECK(opsOf("e = exp(x)\noutput y = e + e * e\n") == 3);
  CHECK(opsOf("e = exp(x)\noutput y = e + flip(e, axes=[0])\n") == 3);
  CHECK(opsOf("e = exp(x)\noutput y = flip(e, axes=[0]) + flip(e, axes=[0]) * 2\n") == 3);
  CHECK(opsOf("e = exp(x)\noutput y = transpose(transpose(e)) + e\n") == 2);
}

TEST_CASE("what is counted grows with the graph and not with the paths through it") {
  std::string text = "input x: f32[8]\nv0 = x + 1\n";
  for (int i = 1; i <= 2000; ++i) {
    const std::string before = "v" + std::to_string(i - 1);
    text += "v" + std::to_string(i) + " = sin(" + before + ") * " + before + " + " + before + "\n";
  }
  Model model = modelOf(text + "output y = v2000\n");
  auto schedule = makeSchedule(model, {Numerics::Contract});
  REQUIRE(schedule);
  CHECK(schedule->items.size() >= 6000 / kMaxElementwise.ops);
  CHECK(schedule->items.size() <= 6000 / kMaxElementwise.ops * 4);
}
