// Operands that decide a shape and come from a run, where the model declares the dims of the result: runs that agree
// with them and runs that do not.
#include <catch2/catch.hpp>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int kInt64 = 7, kBool = 9;

using Values = std::map<std::string, std::vector<double>>;  // of operands; other inputs are 0, 1, 2, ..

Status runWith(const OnnxImport& import, const Values& values) {
  ModelBindings bindings;
  for (const ModelPort& port : import.model->ports) {
    bindings.ports.emplace_back();
    if (port.kind != PortKind::Input) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape()) dims.push_back(d.constInt());
    HostTensor& t = bindings.ports.back() = HostTensor::zeros(port.buffer.dtype(), dims);
    auto given = values.find(port.name);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.set(i, Scalar::of(t.dtype,
                          given == values.end() ? static_cast<double>(i) : given->second.at(static_cast<size_t>(i))));
  }
  Result<std::vector<HostTensor>> ports = interpret(*import.model, bindings);
  return ports ? Status() : fail(ports.error());
}

void check(const OnnxMaker& m, const std::vector<Values>& good, const std::vector<Values>& bad) {
  OnnxImport import = m.import();
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  for (const Values& values : good) {
    Status status = runWith(import, values);
    INFO((status ? "" : toText(status.error())));
    CHECK(status);
  }
  for (size_t i = 0; i < bad.size(); ++i) {
    Status status = runWith(import, bad[i]);
    INFO("bad run " << i);
    REQUIRE(!status);
    CHECK(status.error()->diag == Diag::InputMismatch);
    CHECK(status.error()->message.find("against the declared dims of 'y'") != std::string::npos);
  }
  CHECK(m.convert());  // reads back what it wrote, and compares
}

/// A node with x, the operands that come from the run, and a declared result.
struct OneNode : OnnxMaker {
  OneNode(const std::string& op, const Names& x, const Names& operands, const std::vector<int64_t>& y, int opset = 17)
      : OnnxMaker(opset) {
    Names inputs;
    if (!x.empty()) input("x", x), inputs.push_back("x");
    for (const std::string& o : operands) inputs.push_back(o);
    shapedOutput("y", y);
    made = &node(op, inputs, {"y"});
    made->set_name("the node");
  }
  OneNode& operand(const std::string& name, const std::string& size) {
    input(name, {size}, kInt64);
    return *this;
  }
  template <class T>
  OneNode& with(const std::string& name, T value) {
    addAttribute(*made, name, value);
    return *this;
  }
  proto::NodeProto* made;
};

}  // namespace

TEST_CASE("Reshape: 0 keeps a dim and -1 is what is left") {
  check(OneNode("Reshape", {"2", "3", "4"}, {"s"}, {2, 6, 2}).operand("s", "3"),
        {{{"s", {2, 6, 2}}}, {{"s", {0, 6, 2}}}, {{"s", {-1, 6, 2}}}, {{"s", {0, -1, 2}}}, {{"s", {2, 6, -1}}}},
        {{{"s", {2, 2, 6}}},
         {{"s", {2, 0, 2}}},
         {{"s", {-1, -1, 2}}},
         {{"s", {0, 0, -1}}},
         {{"s", {2, -1, 5}}},
         {{"s", {2, 6, 0}}},
         {{"s", {-2, 6, 2}}}});
  check(OneNode("Reshape", {"0", "3"}, {"s"}, {3, 0}).operand("s", "2").with("allowzero", int64_t{1}),
        {{{"s", {3, 0}}}, {{"s", {3, -1}}}}, {{{"s", {0, 3}}}, {{"s", {-1, 0}}}});
}

TEST_CASE("the message of a run that contradicts the declared dims") {
  OneNode m("Reshape", {"2", "3", "4"}, {"shape"}, {2, 6, 2});
  m.operand("shape", "3");
  Status status = runWith(m.import(), {{"shape", {2, -1, 4}}});
  REQUIRE(!status);
  CHECK(status.error()->message ==
        "Reshape (opset 17), node 'the node': operand 1 (shape) from 'shape' against the declared dims of 'y': the "
        "run gives [2, 3, 4], the plan is for [2, 6, 2]");
  CHECK(status.error()->help.find("--const") != std::string::npos);
}

TEST_CASE("an operand that the run computes") {
  OnnxMaker m;
  m.input("x", {"6"}).input("half", {"1"}, kInt64).ints("rest", {1}, {-1}).shapedOutput("y", {2, 3});
  m.node("Add", {"half", "half"}, {"first"});
  addAttribute(m.node("Concat", {"first", "rest"}, {"s"}), "axis", int64_t{0});
  m.node("Reshape", {"x", "s"}, {"y"});
  check(m, {{{"half", {1}}}}, {{{"half", {3}}}, {{"half", {2}}}});
}

TEST_CASE("Expand: both sides broadcast") {
  check(OneNode("Expand", {"3", "1"}, {"s"}, {2, 3, 4}).operand("s", "3"), {{{"s", {2, 3, 4}}}, {{"s", {2, 1, 4}}}},
        {{{"s", {2, 3, 1}}}, {{"s", {1, 3, 4}}}, {{"s", {2, 4, 4}}}});
  check(OneNode("Expand", {"2", "3", "1"}, {"s"}, {2, 3, 4}).operand("s", "1"), {{{"s", {4}}}},
        {{{"s", {1}}}, {{"s", {3}}}});
}

TEST_CASE("Squeeze and Unsqueeze: axes of the run") {
  check(OneNode("Squeeze", {"1", "2", "1", "3"}, {"a"}, {2, 1, 3}).operand("a", "1"), {{{"a", {0}}}, {{"a", {-4}}}},
        {{{"a", {2}}}, {{"a", {1}}}, {{"a", {7}}}});
  check(OneNode("Squeeze", {"1", "1"}, {"a"}, {}).operand("a", "2"), {{{"a", {0, 1}}}, {{"a", {-1, 0}}}},
        {{{"a", {0, 0}}}});
  check(OneNode("Unsqueeze", {"2", "3"}, {"a"}, {1, 2, 1, 3}).operand("a", "2"), {{{"a", {0, 2}}}, {{"a", {-2, 0}}}},
        {{{"a", {0, 1}}}, {{"a", {0, 3}}}, {{"a", {2, 2}}}});
}

TEST_CASE("ConstantOfShape, Range, OneHot: sizes of the run") {
  check(OneNode("ConstantOfShape", {}, {"s"}, {2, 3}).operand("s", "2"), {{{"s", {2, 3}}}},
        {{{"s", {3, 2}}}, {{"s", {2, 4}}}});
  OnnxMaker range;
  range.input("a", {}).input("b", {}).input("d", {}).shapedOutput("y", {3});
  range.node("Range", {"a", "b", "d"}, {"y"});
  check(range, {{{"a", {1}}, {"b", {2.5}}, {"d", {0.5}}}, {{"a", {4}}, {"b", {-1}}, {"d", {-2}}}},
        {{{"a", {1}}, {"b", {2.6}}, {"d", {0.5}}},
         {{"a", {1}}, {"b", {0}}, {"d", {1}}},
         {{"a", {0}}, {"b", {3}}, {"d", {0}}}});
  OnnxMaker whole;
  whole.input("a", {}, kInt64).input("b", {}, kInt64).input("d", {}, kInt64).shapedOutput("y", {3}, kInt64);
  whole.node("Range", {"a", "b", "d"}, {"y"});
  check(whole, {{{"a", {1}}, {"b", {8}}, {"d", {3}}}, {{"a", {3}}, {"b", {0}}, {"d", {-1}}}},
        {{{"a", {1}}, {"b", {7}}, {"d", {3}}}, {{"a", {0}}, {"b", {0}}, {"d", {0}}}});
  OnnxMaker hot;
  hot.input("i", {"2"}, kInt64).input("n", {}, kInt64).floats("v", {2}, {0, 1}).shapedOutput("y", {2, 4});
  hot.node("OneHot", {"i", "n", "v"}, {"y"});
  check(hot, {{{"n", {4}}}}, {{{"n", {3}}}});
}

TEST_CASE("Slice and Pad: bounds and amounts of the run") {
  OneNode slice("Slice", {"4", "5"}, {"b", "e", "a", "t"}, {4, 2});
  slice.operand("b", "1").operand("e", "1").operand("a", "1").operand("t", "1");
  check(slice,
        {{{"b", {1}}, {"e", {3}}, {"a", {1}}, {"t", {1}}},
         {{"b", {-3}}, {"e", {1e18}}, {"a", {-1}}, {"t", {2}}},
         {{"b", {9}}, {"e", {2}}, {"a", {1}}, {"t", {-1}}},
         {{"b", {1}}, {"e", {-1e18}}, {"a", {1}}, {"t", {-1}}}},
        {{{"b", {1}}, {"e", {4}}, {"a", {1}}, {"t", {1}}},
         {{"b", {1}}, {"e", {3}}, {"a", {0}}, {"t", {1}}},
         {{"b", {3}}, {"e", {1}}, {"a", {1}}, {"t", {1}}},
         {{"b", {1}}, {"e", {3}}, {"a", {1}}, {"t", {0}}}});
  check(OneNode("Pad", {"2", "3"}, {"p"}, {4, 4}).operand("p", "4"), {{{"p", {1, 0, 1, 1}}}, {{"p", {3, 1, -1, 0}}}},
        {{{"p", {0, 1, 1, 1}}}, {{"p", {2, 0, 0, 0}}}});
}

TEST_CASE("Split, Tile, CenterCropPad, TopK: sizes of the run") {
  OnnxMaker split;
  split.input("x", {"5"}).input("s", {"2"}, kInt64).shapedOutput("y", {2}).shapedOutput("z", {3});
  split.node("Split", {"x", "s"}, {"y", "z"});
  check(split, {{{"s", {2, 3}}}}, {{{"s", {3, 2}}}, {{"s", {1, 4}}}});
  check(OneNode("Tile", {"2", "3"}, {"r"}, {4, 3}).operand("r", "2"), {{{"r", {2, 1}}}}, {{{"r", {1, 2}}}});
  check(OneNode("CenterCropPad", {"4", "3"}, {"s"}, {2, 5}, 18).operand("s", "2"), {{{"s", {2, 5}}}},
        {{{"s", {2, 3}}}});
  OnnxMaker top;
  top.input("x", {"4"}).input("k", {"1"}, kInt64).shapedOutput("y", {2}).shapedOutput("i", {2}, kInt64);
  top.node("TopK", {"x", "k"}, {"y", "i"});
  check(top, {{{"k", {2}}}}, {{{"k", {3}}}});
}

TEST_CASE("reductions: axes of the run") {
  check(OneNode("ReduceSum", {"2", "2", "3"}, {"a"}, {2, 3}).operand("a", "1").with("keepdims", int64_t{0}),
        {{{"a", {0}}}, {{"a", {1}}}, {{"a", {-2}}}}, {{{"a", {2}}}, {{"a", {5}}}});
  check(OneNode("ReduceMax", {"2", "3"}, {"a"}, {2, 1}, 18).operand("a", "1"), {{{"a", {1}}}, {{"a", {-1}}}},
        {{{"a", {0}}}});
}

TEST_CASE("Loop: no more steps than the declared result has room for") {
  OnnxMaker m;
  m.input("trips", {}, kInt64).input("start", {}, kBool).input("zero", {});
  m.shapedOutput("last", {}).shapedOutput("y", {4});
  proto::NodeProto& loop = m.node("Loop", {"trips", "start", "zero"}, {"last", "y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "c", "s"}, {"d", "t", "u"});
  addNode(*body.mutable_node(), "Identity", {"c"}, {"d"});
  addNode(*body.mutable_node(), "Cos", {"s"}, {"t"});
  addNode(*body.mutable_node(), "Identity", {"t"}, {"u"});
  OnnxImport import = m.import();
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  for (double trips : {0, 3, 4}) CHECK(runWith(import, {{"trips", {trips}}, {"start", {1}}}));
  CHECK(runWith(import, {{"trips", {9}}, {"start", {0}}}));
  Status status = runWith(import, {{"trips", {5}}, {"start", {1}}});
  REQUIRE(!status);
  CHECK(status.error()->diag == Diag::InputMismatch);
}

TEST_CASE("an operand of another length than the declared dims is an error of the model") {
  OnnxImport import = OneNode("Reshape", {"6"}, {"s"}, {2, 3}).operand("s", "3").import();
  REQUIRE(!import.errors.empty());
  CHECK(import.errors[0]->diag == Diag::ShapeMismatch);
  import = OneNode("Reshape", {"6"}, {"s"}, {2, 3}).operand("s", "n").import();
  REQUIRE(!import.errors.empty());
  CHECK(import.errors[0]->diag == Diag::Unsupported);
}

TEST_CASE("an output whose declared shape its node contradicts is noted") {
  OneNode m("Relu", {"2", "n"}, {}, {3, 7});
  OnnxImport import = m.import();
  CHECK(import.model);
  REQUIRE(!import.notes.empty());
  CHECK(import.notes[0]->message ==
        "the output 'y' is declared as [3, 7], but Relu (opset 17), node 'the node' makes f32[2, n], which the plan "
        "has");
  CHECK(OneNode("Relu", {"2", "3"}, {}, {6}).import().notes.size() == 1);
  CHECK(OneNode("Relu", {"2", "3"}, {}, {2, 3}).import().notes.empty());
  CHECK(OneNode("Relu", {"2", "n"}, {}, {2, 5}).import().notes.size() == 1);  // that of n alone
}
