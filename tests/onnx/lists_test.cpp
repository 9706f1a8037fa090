// Sequences and optionals: lists of the importer, of which nothing is left in the graph.
#include <catch2/catch.hpp>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int64_t kInt64 = 7;

HostTensor i64(std::vector<int64_t> dims, std::initializer_list<double> values) {
  return HostTensor::of(DType::I64, std::move(dims), values);
}

// x is [3, 4] of 0, 1, .. 11; s holds its rows.
OnnxMaker rows(int64_t keepdims = 0) {
  OnnxMaker m;
  m.input("x", {"3", "4"});
  addAttribute(m.node("SplitToSequence", {"x"}, {"s"}), "keepdims", keepdims);
  return m;
}

}  // namespace

TEST_CASE("a tensor becomes a sequence and one tensor again") {
  for (int64_t keepdims : {0, 1}) {
    OnnxMaker m = rows(keepdims);
    m.output("y");
    addAttribute(m.node("ConcatFromSequence", {"s"}, {"y"}), "axis", int64_t{0});
    const HostTensor y = run(m.import());
    CHECK(y.dims == (keepdims ? std::vector<int64_t>{3, 4} : std::vector<int64_t>{12}));
    CHECK(y.at(7).asFloat() == 7);
  }
  OnnxMaker stacked = rows();
  stacked.output("y");
  proto::NodeProto& node = stacked.node("ConcatFromSequence", {"s"}, {"y"});
  addAttribute(node, "axis", int64_t{-1}), addAttribute(node, "new_axis", int64_t{1});
  CHECK(run(stacked.import()).dims == std::vector<int64_t>{4, 3});
}

TEST_CASE("parts of a sequence have the sizes that are asked for") {
  auto second = [](std::vector<int64_t> dims, const std::vector<int64_t>& sizes, int64_t at) {
    OnnxMaker m;
    m.input("x", {"2", "5"}).ints("split", std::move(dims), sizes).ints("at", {}, {at}).output("y");
    addAttribute(m.node("SplitToSequence", {"x", "split"}, {"s"}), "axis", int64_t{1});
    m.node("SequenceAt", {"s", "at"}, {"y"});
    return m.import();
  };
  CHECK(run(second({}, {2}, 2)) == f32({2, 1}, {4, 9}));
  CHECK(run(second({2}, {4, 1}, -1)) == f32({2, 1}, {4, 9}));
  CHECK(run(second({3}, {0, 3, 2}, 0)) == f32({2, 0}, {}));
  CHECK(isRefused(second({2}, {4, 2}, 0), "the parts make up the axis"));
  CHECK(isRefused(second({}, {0}, 0), "above 0"));
  CHECK(isRefused(second({}, {2}, 3), "the position 3"));
  CHECK(isRefused(second({}, {2}, -4), "the position -4"));
}

TEST_CASE("elements are put in, taken out and counted") {
  auto changed = [](const std::string& op, std::optional<int64_t> at, int64_t shown) {
    OnnxMaker m = rows();
    OnnxMaker::Names inputs{"s"};
    if (op == "SequenceInsert") m.node("Neg", {"x"}, {"v"}), inputs.push_back("v");
    if (at) m.ints("at", {}, {*at}), inputs.push_back("at");
    m.node(op, inputs, {"t"});
    m.ints("shown", {}, {shown}).node("SequenceAt", {"t", "shown"}, {"e"});
    m.node("SequenceLength", {"t"}, {"n"});
    m.node("Cast", {"n"}, {"nf"}).add_attribute()->set_name("to");
    m.model.mutable_graph()->mutable_node()->rbegin()->mutable_attribute(0)->set_i(1);
    m.node("Add", {"e", "nf"}, {"y"});
    m.output("y");
    return m.import();
  };
  CHECK(run(changed("SequenceErase", {}, -1)) == f32({4}, {6, 7, 8, 9}));
  CHECK(run(changed("SequenceErase", 0, 0)) == f32({4}, {6, 7, 8, 9}));
  CHECK(run(changed("SequenceErase", -2, 1)) == f32({4}, {10, 11, 12, 13}));
  CHECK(isRefused(changed("SequenceErase", 3, 0), "the position 3"));
  for (const auto& [at, place] : {std::pair<int64_t, int64_t>{0, 0}, {3, 3}, {-1, 2}, {-3, 0}})
    CHECK(run(changed("SequenceInsert", at, place)).dims == std::vector<int64_t>{3, 4});
  CHECK(run(changed("SequenceInsert", {}, 3)).dims == std::vector<int64_t>{3, 4});
  CHECK(isRefused(changed("SequenceInsert", 4, 0), "the position 4"));
}

TEST_CASE("a run chooses an element of a sequence of tensors that are alike") {
  OnnxMaker m = rows();
  m.input("at", {}, static_cast<int>(kInt64)).node("SequenceAt", {"s", "at"}, {"y"});
  m.output("y");
  const OnnxImport import = m.import();
  REQUIRE(import.model);
  for (const auto& [at, first] : {std::pair<int, double>{0, 0}, {2, 8}, {-1, 8}, {-3, 0}}) {
    ModelBindings bindings = bindingsOf(*import.model, {});
    bindings.ports[1].set(0, Scalar::ofInt(DType::I64, at));
    Result<std::vector<HostTensor>> ports = interpret(*import.model, bindings);
    REQUIRE(ports);
    CHECK(ports->back().at(0).asFloat() == first);
  }
}

TEST_CASE("sequences go through loops, branches and functions") {
  for (int64_t trips : {3, 20}) {  // laid out, and more than that
    INFO(trips);
    OnnxMaker m;
    m.input("x", {"2"}).ints("trips", {}, {trips}).floats("one", {}, {1}).output("y");
    m.node("SequenceEmpty", {}, {"none"});
    proto::NodeProto& loop = m.node("Loop", {"trips", "", "none", "x"}, {"all", "last"});
    proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s", "v"}, {"go", "more", "next"});
    addNode(*body.mutable_node(), "Identity", {"on"}, {"go"});
    addNode(*body.mutable_node(), "Add", {"v", "one"}, {"next"});
    addNode(*body.mutable_node(), "SequenceInsert", {"s", "next"}, {"more"});
    addAttribute(m.node("ConcatFromSequence", {"all"}, {"y"}), "axis", int64_t{0});
    const HostTensor y = run(m.import());
    REQUIRE(y.dims == std::vector<int64_t>{2 * trips});
    CHECK(y.at(2 * trips - 1).asFloat() == static_cast<double>(trips) + 1);
  }
  OnnxMaker m = rows();
  m.input("c", {}, 9).output("y").ints("at", {}, {0});
  proto::NodeProto& choice = m.node("If", {"c"}, {"t"});
  addNode(*addGraph(choice, "then_branch", {}, {"a"}).mutable_node(), "Identity", {"s"}, {"a"});
  proto::GraphProto& other = addGraph(choice, "else_branch", {}, {"b"});
  addNode(*other.mutable_node(), "Exp", {"x"}, {"e"});
  addNode(*other.mutable_node(), "SplitToSequence", {"e"}, {"b"});
  addAttribute(*other.mutable_node(1), "keepdims", int64_t{0});
  m.node("SequenceAt", {"t", "at"}, {"y"});
  CHECK(run(m.import()).at(0).asFloat() == 1);  // the input is bound to 0: the exponential
}

TEST_CASE("a body is mapped over a sequence") {
  OnnxMaker m = rows();
  m.floats("half", {}, {0.5F}).output("y");
  proto::NodeProto& map = m.node("SequenceMap", {"s", "s", "half"}, {"t"});
  proto::GraphProto& body = addGraph(map, "body", {"a", "b", "h"}, {"c"});
  addNode(*body.mutable_node(), "Mul", {"a", "h"}, {"less"});
  addNode(*body.mutable_node(), "Add", {"less", "b"}, {"c"});
  addAttribute(m.node("ConcatFromSequence", {"t"}, {"y"}), "axis", int64_t{0});
  CHECK(run(m.import()).at(11).asFloat() == 16.5);
}

TEST_CASE("optionals have a value or not") {
  auto has = [](bool isGiven) {
    OnnxMaker m(18);
    m.input("x", {"2"}).output("y", 9);
    proto::NodeProto& node = m.node("Optional", isGiven ? OnnxMaker::Names{"x"} : OnnxMaker::Names{}, {"o"});
    if (!isGiven) {
      proto::AttributeProto& type = *node.add_attribute();
      type.set_name("type"), type.set_type(13);
      type.mutable_tp()->mutable_tensor_type()->set_elem_type(1);
    }
    m.node("OptionalHasElement", {"o"}, {"y"});
    return run(m.import());
  };
  CHECK(has(true).at(0).asInt() == 1);
  CHECK(has(false).at(0).asInt() == 0);
  OnnxMaker m(18);
  m.input("x", {"2"}).output("y");
  m.node("Optional", {"x"}, {"o"});
  m.node("OptionalGetElement", {"o"}, {"y"});
  CHECK(run(m.import()) == f32({2}, {0, 1}));
}

TEST_CASE("what sequences cannot be is refused") {
  OnnxMaker output = rows();
  output.output("s");
  CHECK(isRefused(output.import(), "the output 's' is a sequence"));
  OnnxMaker operand = rows();
  operand.output("y").node("Neg", {"s"}, {"y"});
  CHECK(isRefused(operand.import(), "operand 0 is a sequence"));
  OnnxMaker tensor;
  tensor.input("x", {"2"}).output("y", 7).node("SequenceLength", {"x"}, {"y"});
  CHECK(isRefused(tensor.import(), "operand 0 is a sequence"));
  OnnxMaker none(18);
  none.output("y").node("SequenceEmpty", {}, {"s"});
  addAttribute(none.node("ConcatFromSequence", {"s"}, {"y"}), "axis", int64_t{0});
  CHECK(isRefused(none.import(), "the sequence is not empty"));
}

TEST_CASE("the length of a sequence is a constant") {
  OnnxMaker m = rows();
  m.output("y", 7).node("SequenceLength", {"s"}, {"y"});
  CHECK(run(m.import()) == i64({}, {3}));
}
