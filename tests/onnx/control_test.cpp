// Control flow, and values as large as a run says.
#include <catch2/catch.hpp>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int kInt64 = 7, kBool = 9;

HostTensor i64(std::vector<int64_t> dims, std::initializer_list<double> values) {
  return HostTensor::of(DType::I64, std::move(dims), values);
}

/// The loops in a model's graph.
size_t loopCount(const OnnxImport& import) {
  size_t count = 0;
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  for (UOp n : toposort(import.model->sink)) count += n.op() == Op::End ? 1 : 0;
  return count;
}

// sum += x in every one of `count` steps; y collects the sums.
OnnxMaker summing(const OnnxMaker::Names& count) {
  OnnxMaker m;
  m.input("x", {"2"});
  proto::NodeProto& loop = m.node("Loop", {count[0], "", "x"}, {"last", "y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"on", "t", "u"});
  addNode(*body.mutable_node(), "Add", {"s", "x"}, {"t"});
  addNode(*body.mutable_node(), "Identity", {"t"}, {"u"});
  return m;
}

bool isUnsupported(const OnnxImport& import, const std::string& what) {
  return isRefused(import, what) && import.errors[0]->diag == Diag::Unsupported;
}

}  // namespace

TEST_CASE("many steps are a loop of the plan") {
  OnnxMaker m = summing({"count"});
  m.ints("count", {}, {40}).output("last");
  CHECK(loopCount(m.import()) == 1);
  CHECK(run(m.import()) == f32({2}, {0, 41}));
  OnnxMaker collected = summing({"count"});
  collected.ints("count", {}, {40}).output("y");
  HostTensor y = run(collected.import());
  REQUIRE(y.dims == std::vector<int64_t>{40, 2});
  for (int64_t i = 0; i < 40; ++i) CHECK(y.at(2 * i + 1).asFloat() == Approx(static_cast<double>(i) + 2));
}

TEST_CASE("a loop that collects without a bound names what gives it one") {
  OnnxMaker m = summing({"count"});
  m.input("count", {}, kInt64).output("y");
  CHECK(isUnsupported(m.import(), "--var count.0=SIZE"));
  LoadOptions options;
  options.variables = {parseVariableOption("count.0=3").value()};
  CHECK(m.import(options).model);
}

TEST_CASE("a trip count of the run") {
  OnnxMaker m = summing({"count"});
  m.model.mutable_graph()->mutable_node(0)->mutable_output()->RemoveLast();
  m.input("count", {}, kInt64).output("last");  // bound to 0: no step
  CHECK(run(m.import()) == f32({2}, {0, 1}));
  OnnxMaker more;
  more.input("x", {"2"}).input("count", {"3"}, kInt64).output("y");
  addAttribute(more.node("ReduceSum", {"count"}, {"sum"}), "keepdims", int64_t{0});  // 0 + 1 + 2
  proto::GraphProto& body = addGraph(more.node("Loop", {"sum", "", "x"}, {"y"}), "body", {"i", "on", "s"}, {"on", "t"});
  addNode(*body.mutable_node(), "Add", {"s", "x"}, {"t"});
  CHECK(run(more.import()) == f32({2}, {0, 4}));
}

TEST_CASE("swapped states take the values of the step before") {
  OnnxMaker m;
  m.input("x", {"2"}).ints("count", {}, {33}).output("y");
  m.node("Neg", {"x"}, {"minus"});
  proto::NodeProto& loop = m.node("Loop", {"count", "", "x", "minus"}, {"y", "z"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "a", "b"}, {"on", "c", "d"});
  addNode(*body.mutable_node(), "Identity", {"b"}, {"c"});
  addNode(*body.mutable_node(), "Identity", {"a"}, {"d"});
  CHECK(sameValues(run(m.import()), f32({2}, {0, -1}), true));
}

TEST_CASE("the step is an index, and decides what is read") {
  OnnxMaker m;
  m.input("x", {"40"}).ints("count", {}, {40}).ints("one", {1}, {1}).floats("zero", {1}, {0}).output("y");
  proto::NodeProto& loop = m.node("Loop", {"count", "", "zero"}, {"y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"on", "t"});
  addNode(*body.mutable_node(), "Unsqueeze", {"i", "axis"}, {"from"});
  addNode(*body.mutable_node(), "Add", {"from", "one"}, {"to"});
  addNode(*body.mutable_node(), "Slice", {"x", "from", "to"}, {"e"});
  addNode(*body.mutable_node(), "Add", {"s", "e"}, {"t"});
  m.ints("axis", {1}, {0});
  OnnxImport import = m.import();
  CHECK(loopCount(import) == 1);
  CHECK(run(import) == f32({1}, {780}));
}

TEST_CASE("what many steps put behind a value is collected, and put there at once") {
  OnnxMaker m;
  m.input("x", {"1"}).ints("count", {}, {20}).output("y");
  proto::NodeProto& loop = m.node("Loop", {"count", "", "x"}, {"all"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"on", "t"});
  addAttribute(*(addNode(*body.mutable_node(), "Concat", {"s", "x"}, {"t"}), body.mutable_node(0)), "axis", int64_t{0});
  m.node("Shape", {"all"}, {"size"});
  addAttribute(m.node("Cast", {"size"}, {"y"}), "to", int64_t{1});
  OnnxImport import = m.import();
  CHECK(loopCount(import) == 1);
  CHECK(run(import) == f32({1}, {21}));
}

TEST_CASE("a value that grows may pass casts to its own dtype only") {
  for (int64_t dtype : {1, 11, 6}) {  // f32, which x has, f64 and i32
    OnnxMaker m;
    m.input("x", {"1"}).floats("half", {1}, {0.5F}).ints("count", {}, {20}).output("y");
    proto::NodeProto& loop = m.node("Loop", {"count", "", "x"}, {"y"});
    proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"on", "t"});
    auto& nodes = *body.mutable_node();
    addNode(nodes, "Cast", {"s"}, {"a"}), addNode(nodes, "Cast", {"a"}, {"b"});
    addAttribute(nodes[0], "to", dtype), addAttribute(nodes[1], "to", int64_t{1});
    addNode(nodes, "Concat", {"b", "half"}, {"t"});
    addAttribute(nodes[2], "axis", int64_t{0});
    OnnxImport import = m.import();
    CHECK(loopCount(import) == (dtype == 1 ? 1 : 0));
    HostTensor y = run(import);  // x is [0]
    REQUIRE(y.dims == std::vector<int64_t>{21});
    CHECK(y.at(20) == Scalar::ofFloat(DType::F32, 0.5));
    CHECK(y.at(1) == Scalar::ofFloat(DType::F32, dtype == 6 ? 0.0 : 0.5));
  }
}

TEST_CASE("a value that grows and is read by its steps is laid out, also over many") {
  OnnxMaker m;
  m.input("x", {"1"}).ints("count", {}, {20}).output("y");
  proto::NodeProto& loop = m.node("Loop", {"count", "", "x"}, {"y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"on", "t"});
  addNode(*body.mutable_node(), "ReduceMax", {"s"}, {"largest"});
  addNode(*body.mutable_node(), "Add", {"largest", "x"}, {"next"});
  addNode(*body.mutable_node(), "Concat", {"s", "next"}, {"t"});
  addAttribute(*body.mutable_node(2), "axis", int64_t{0});
  OnnxImport import = m.import();
  CHECK(loopCount(import) == 0);
  HostTensor y = run(import);  // x is [0]
  REQUIRE(y.dims == std::vector<int64_t>{21});
}

TEST_CASE("a loop that ends early tells how much it collected") {
  // while (sum < limit) collects the sums
  for (int64_t most : {10, 100}) {
    OnnxMaker m;
    m.input("x", {"1"}).ints("count", {}, {most}).floats("five", {1}, {5}).floats("one", {1}, {1});
    m.output("y").node("Less", {"x", "five"}, {"start"});
    proto::NodeProto& loop = m.node("Loop", {"count", "start", "x"}, {"last", "y"});
    proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"more", "t", "u"});
    addNode(*body.mutable_node(), "Add", {"s", "one"}, {"t"});
    addNode(*body.mutable_node(), "Less", {"t", "five"}, {"more"});
    addNode(*body.mutable_node(), "Identity", {"t"}, {"u"});
    OnnxImport import = m.import();
    CHECK(loopCount(import) == (most == 100 ? 1 : 0));
    CHECK(run(import) == i64({2}, {5, 1}));  // the last output: y.length
  }
}

TEST_CASE("a loop that compares a counter with a size has as many steps") {
  // As Keras writes a layer over time: the counter and the size are compared as floats, and the size is carried along.
  for (const char* rows : {"n", "40", "3"}) {
    OnnxMaker m;
    m.input("x", {rows, "2"}).ints("0", {}, {0}).ints("1", {}, {1}).ints("axis", {1}, {0}).output("y");
    addAttribute(m.node("Shape", {"x"}, {"rows"}), "end", int64_t{1});
    m.node("Squeeze", {"rows", "axis"}, {"size"}), m.floats("state", {2}, {0, 0});
    m.node("Cast", {"size"}, {"length"}), m.node("Cast", {"0"}, {"zero"});
    for (int i : {2, 3}) addAttribute(*m.model.mutable_graph()->mutable_node(i), "to", int64_t{1});
    m.node("Less", {"zero", "length"}, {"start"});
    proto::NodeProto& loop = m.node("Loop", {"", "start", "0", "state", "size"}, {"t", "last", "s", "y"});
    proto::GraphProto& body =
        addGraph(loop, "body", {"i", "on", "at", "h", "end"}, {"more", "next", "to", "same", "out"});
    auto node = [&](const char* op, std::vector<std::string> from, const char* to) -> proto::NodeProto& {
      addNode(*body.mutable_node(), op, std::move(from), {to});
      return *body.mutable_node(body.node_size() - 1);
    };
    node("Add", {"at", "1"}, "next"), node("Gather", {"x", "at"}, "row"), node("Add", {"h", "row"}, "to");
    node("Identity", {"to"}, "out"), node("Identity", {"end"}, "same");
    addAttribute(node("Cast", {"next"}, "a"), "to", int64_t{1}),
        addAttribute(node("Cast", {"end"}, "b"), "to", int64_t{1});
    node("Less", {"a", "b"}, "more");
    const OnnxImport import = m.import();
    const HostTensor y = run(import, {{"n", 5}});
    const int64_t steps = rows[0] == 'n' ? 5 : std::stoll(rows);
    REQUIRE(y.dims == std::vector<int64_t>{steps, 2});
    for (int64_t i = 0, sum = 0; i < steps; ++i) CHECK(y.at(2 * i).asFloat() == static_cast<double>(sum += 2 * i));
  }
}

TEST_CASE("loops in loops") {
  OnnxMaker m;
  m.input("x", {"1"}).ints("outer", {}, {20}).ints("inner", {}, {30}).floats("one", {1}, {1}).output("y");
  proto::NodeProto& loop = m.node("Loop", {"outer", "", "x"}, {"y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"on", "t"});
  addNode(*body.mutable_node(), "Loop", {"inner", "", "s"}, {"t"});
  proto::GraphProto& deep = addGraph(*body.mutable_node(0), "body", {"k", "go", "a"}, {"go", "b"});
  addNode(*deep.mutable_node(), "Add", {"a", "one"}, {"b"});
  OnnxImport import = m.import();
  CHECK(loopCount(import) == 2);
  CHECK(run(import) == f32({1}, {600}));
}

TEST_CASE("a scan over many steps, backward, and along a variable") {
  for (const char* steps : {"24", "n"}) {
    OnnxMaker m;
    m.input("x", {steps, "1"}).floats("zero", {1}, {0}).output("y");
    proto::NodeProto& scan = m.node("Scan", {"zero", "x"}, {"last", "y"});
    addAttribute(scan, "num_scan_inputs", int64_t{1});
    addAttribute(scan, "scan_input_directions", std::vector<int64_t>{1});
    addAttribute(scan, "scan_output_directions", std::vector<int64_t>{1});
    addAttribute(scan, "scan_output_axes", std::vector<int64_t>{1});
    proto::GraphProto& body = addGraph(scan, "body", {"s", "e"}, {"t", "u"});
    addNode(*body.mutable_node(), "Add", {"s", "e"}, {"t"});
    addNode(*body.mutable_node(), "Identity", {"t"}, {"u"});
    OnnxImport import = m.import();
    CHECK(loopCount(import) == 1);
    HostTensor y = run(import, {{"n", 24}});
    REQUIRE(y.dims == std::vector<int64_t>{1, 24});
    CHECK(y.at(23).asFloat() == 23);  // the last element is the first step
    CHECK(y.at(0).asFloat() == 276);
  }
}

TEST_CASE("branches of different sizes") {
  OnnxMaker m;
  m.input("x", {"3"}).input("c", {}, kBool).output("y");
  m.node("Not", {"c"}, {"is"});
  proto::NodeProto& choice = m.node("If", {"is"}, {"y"});
  addNode(*addGraph(choice, "then_branch", {}, {"a"}).mutable_node(), "Neg", {"x"}, {"a"});
  proto::GraphProto& other = addGraph(choice, "else_branch", {}, {"b"});
  addNode(*other.mutable_node(), "Concat", {"x", "x"}, {"b"});
  addAttribute(*other.mutable_node(0), "axis", int64_t{0});
  CHECK(run(m.import()) == i64({1}, {3}));
}

TEST_CASE("branches of different sizes, which sizes choose, give a value whose size is one") {
  OnnxMaker m;  // two elements more from n = 2 on, and windows of 3
  m.input("x", {"1", "1", "n"})
      .output("y")
      .ints("last", {}, {2})
      .ints("one", {}, {1})
      .ints("pads", {6}, {0, 0, 2, 0, 0, 0});
  m.node("Shape", {"x"}, {"sizes"}), m.node("Gather", {"sizes", "last"}, {"n_"}),
      m.node("Greater", {"n_", "one"}, {"is"});
  proto::NodeProto& choice = m.node("If", {"is"}, {"z"});
  addNode(*addGraph(choice, "then_branch", {}, {"a"}).mutable_node(), "Pad", {"x", "pads"}, {"a"});
  addNode(*addGraph(choice, "else_branch", {}, {"b"}).mutable_node(), "Neg", {"x"}, {"b"});
  proto::NodeProto& pool = m.node("MaxPool", {"z"}, {"y"});
  addAttribute(pool, "kernel_shape", std::vector<int64_t>{3}), addAttribute(pool, "pads", std::vector<int64_t>{2, 0});
  const OnnxImport import = m.import();
  REQUIRE(import.model);
  CHECK(import.model->variables.size() == 1);
  for (const auto& [n, windows] : {std::pair<int64_t, int64_t>{1, 1}, {2, 4}, {7, 9}}) {
    const HostTensor y = run(import, {{"n", n}});
    CHECK(y.dims == std::vector<int64_t>{1, 1, windows});
    CHECK(y.at(windows - 1).asFloat() == static_cast<double>(n - 1));
  }
}

TEST_CASE("ops that follow a value as large as the run says") {
  // x = 0, 1, 2, 3: three elements are not 0
  OnnxMaker m;
  m.input("x", {"4"}).output("y");
  m.node("NonZero", {"x"}, {"at"});
  m.node("Transpose", {"at"}, {"rows"});
  m.node("GatherND", {"x", "rows"}, {"found"});
  m.node("Neg", {"found"}, {"n"});
  m.node("Add", {"n", "found"}, {"y"});
  CHECK(run(m.import()) == i64({1}, {3}));

  OnnxMaker shape;
  shape.input("x", {"4"}).output("y", kInt64);
  shape.node("NonZero", {"x"}, {"at"});
  shape.node("Shape", {"at"}, {"y"});
  CHECK(run(shape.import()) == i64({2}, {1, 3}));

  OnnxMaker sum;
  sum.input("x", {"4"}).output("y", kInt64);
  sum.node("NonZero", {"x"}, {"at"});
  sum.node("ReduceSum", {"at"}, {"y"});
  CHECK(run(sum.import()) == i64({1, 1}, {6}));

  OnnxMaker other;  // another number of elements on the right
  other.input("x", {"4"}).ints("four", {4}, {1, 2, 3, 4}).output("y", kInt64);
  other.node("NonZero", {"x"}, {"at"});
  other.node("Add", {"at", "four"}, {"y"});
  OnnxImport import = other.import();
  REQUIRE(import.model);
  ModelBindings bindings;
  for (const ModelPort& port : import.model->ports) {
    bindings.ports.emplace_back();
    if (port.kind == PortKind::Input) bindings.ports.back() = f32({4}, {0, 1, 2, 3});
  }
  Result<std::vector<HostTensor>> ports = interpret(*import.model, bindings);
  REQUIRE(!ports);
  CHECK(ports.error()->diag == Diag::InputMismatch);
}

TEST_CASE("what stays outside is named with a way around") {
  OnnxMaker m(20);
  m.input("x", {"8"}, 2).output("y", 2);
  m.node("RegexFullMatch", {"x"}, {"y"});
  CHECK(isUnsupported(m.import(), "match before"));
}
