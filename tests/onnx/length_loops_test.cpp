// Branches, loops and scans over values whose size only a run can tell.
#include "compressed.h"

using namespace svod;

TEST_CASE("control flow by lengths") {
  auto size = [](OnnxMaker& m) {
    m.ints("zero", {}, {0});
    m.node("Shape", {"v"}, {"s"}), m.node("Gather", {"s", "zero"}, {"k"});
  };
  checkLengths("If", [&](OnnxMaker& m) {
    size(m), m.ints("two", {}, {2});
    m.node("Greater", {"k", "two"}, {"isLong"});
    proto::NodeProto& branch = m.node("If", {"isLong"}, {"y"});
    proto::GraphProto& a = addGraph(branch, "then_branch", {}, {"long"});
    addNode(*a.mutable_node(), "Exp", {"v"}, {"long"});
    proto::GraphProto& b = addGraph(branch, "else_branch", {}, {"short"});
    addNode(*b.mutable_node(), "Neg", {"u"}, {"short"});
  });
  checkLengths("Loop", [&](OnnxMaker& m) {
    size(m), m.floats("start", {3}, {1, 2, 3});
    proto::NodeProto& loop = m.node("Loop", {"k", "", "start"}, {"last", "y"});
    proto::GraphProto& body = addGraph(loop, "body", {"i", "c", "x"}, {"d", "z", "kept"});
    addNode(*body.mutable_node(), "Identity", {"c"}, {"d"});
    addNode(*body.mutable_node(), "Gather", {"v", "i"}, {"row"});
    addNode(*body.mutable_node(), "Add", {"row", "x"}, {"z"});
    addNode(*body.mutable_node(), "Identity", {"z"}, {"kept"});
  });
}

TEST_CASE("what the steps of a loop put behind a value, as often as a run says") {
  for (int64_t axis : {0, 1, -1})
    for (int64_t rows : {0, 2}) {
      auto grow = [&](OnnxMaker& m, bool isSizedByRun) {
        m.ints("zero", {}, {0}).ints("four", {1}, {4}).ints("three", {1}, {3}).ints("along", {1}, {axis == 0 ? 0 : 1});
        m.node("Shape", {"v"}, {"s"}), m.node("Gather", {"s", "zero"}, {"k"});
        const std::vector<int64_t> dims = axis == 0 ? std::vector{rows, kColumns} : std::vector{kColumns, rows};
        m.floats("start", dims, std::vector<float>(static_cast<size_t>(rows * kColumns), 7))
            .floats("sum", {3}, {1, 2, 3});
        proto::NodeProto& loop = m.node("Loop", {"k", "", "start", "sum"}, {"y", "last", "sums"});
        proto::GraphProto& body = addGraph(loop, "body", {"i", "c", "all", "t"}, {"d", "more", "u", "kept"});
        auto& nodes = *body.mutable_node();
        addNode(nodes, "Identity", {"c"}, {"d"}), addNode(nodes, "Gather", {"v", "i"}, {"row"});
        addNode(nodes, "Add", {"row", "t"}, {"u"}), addNode(nodes, "Identity", {"u"}, {"kept"});
        std::string fresh = "u";
        if (isSizedByRun) {  // some zeros and ones, 3 of both
          addNode(nodes, "Gather", {"at", "i"}, {"place"}), addNode(nodes, "Mod", {"place", "four"}, {"a"});
          addNode(nodes, "Sub", {"three", "a"}, {"b"}), addNode(nodes, "ConstantOfShape", {"a"}, {"zeros"});
          addNode(nodes, "ConstantOfShape", {"b"}, {"others"}), addNode(nodes, "Cos", {"others"}, {"ones"});
          addNode(nodes, "Concat", {"zeros", "ones"}, {"bits"});
          addAttribute(nodes[nodes.size() - 1], "axis", int64_t{0});
          fresh = "bits";
        }
        const std::string carried = axis == 0 ? "same" : "all";
        if (axis == 0)
          addNode(nodes, "Cast", {"all"}, {"same"}), addAttribute(nodes[nodes.size() - 1], "to", int64_t{1});
        addNode(nodes, "Unsqueeze", {fresh, "along"}, {"behind"}),
            addNode(nodes, "Concat", {carried, "behind"}, {"more"});
        addAttribute(nodes[nodes.size() - 1], "axis", axis);
      };
      const std::string what = "axis " + std::to_string(axis) + ", " + std::to_string(rows) + " first";
      checkLengths(what, [&](OnnxMaker& m) { grow(m, false); });
      checkLengths(what + ", sizes of the run", [&](OnnxMaker& m) { grow(m, true); });
    }
}

TEST_CASE("a step that puts something of another size behind a value fails the run") {
  OnnxMaker m(18);
  m.input("k", {"1"}, kInt64).ints("least", {}, {0}).ints("most", {}, {5}).ints("count", {}, {20});
  m.ints("zero", {1}, {0}).floats("start", {0, 3}, {}).output("y");
  m.node("Clip", {"k", "least", "most"}, {"c"});
  proto::NodeProto& loop = m.node("Loop", {"count", "", "start"}, {"y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "all"}, {"on", "more"});
  addNode(*body.mutable_node(), "ConstantOfShape", {"c"}, {"row"});
  addNode(*body.mutable_node(), "Unsqueeze", {"row", "zero"}, {"behind"});
  addNode(*body.mutable_node(), "Concat", {"all", "behind"}, {"more"});
  addAttribute(*body.mutable_node(2), "axis", int64_t{0});
  OnnxImport import = m.import();
  auto run = [&](int64_t k) {
    return computed(import, [&](const ModelPort& p) {
      HostTensor t = HostTensor::zeros(p.buffer.dtype(), {1});
      t.set(0, Scalar::ofInt(DType::I64, k));
      return t;
    });
  };
  CHECK(run(3)->dims == std::vector<int64_t>{20, 3});
  CHECK_FALSE(run(2));
  CHECK_FALSE(run(5));
}

TEST_CASE("a scan over rows whose number a run and a variable bound") {
  for (int64_t backward : {0, 1}) {
    OnnxMaker m;
    m.input("x", {"n", "1"}).input("m", {"n"}, kBool).floats("start", {1}, {0}).output("y");
    addAttribute(m.node("Compress", {"x", "m"}, {"v"}), "axis", int64_t{0});
    proto::NodeProto& scan = m.node("Scan", {"start", "v"}, {"last", "y"});
    addAttribute(scan, "num_scan_inputs", int64_t{1});
    addAttribute(scan, "scan_output_directions", std::vector<int64_t>{backward});
    proto::GraphProto& body = addGraph(scan, "body", {"s", "row"}, {"t", "kept"});
    addNode(*body.mutable_node(), "Add", {"row", "s"}, {"t"});
    addNode(*body.mutable_node(), "Identity", {"t"}, {"kept"});
    std::optional<Run> run = computed(m.import(),
                                      [](const ModelPort& port) {
                                        std::vector<int64_t> dims =
                                            port.name == "m" ? std::vector<int64_t>{5} : std::vector<int64_t>{5, 1};
                                        HostTensor t = HostTensor::zeros(port.buffer.dtype(), dims);
                                        for (int64_t i = 0; i < 5; ++i)
                                          t.set(i, Scalar::of(t.dtype, port.name == "m" ? i % 2 == 0 : i + 1));
                                        return t;
                                      },
                                      {{"n", 5}});
    REQUIRE(run);
    CHECK(run->dims == std::vector<int64_t>{3, 1});
    CHECK(run->values == (backward != 0 ? std::vector<double>{9, 4, 1} : std::vector<double>{1, 4, 9}));
  }
}

TEST_CASE("a condition says nothing behind the end of the axis") {
  for (const char* rows : {"4", "n"}) {
    OnnxMaker m;
    m.input("x", {rows, "2"}).input("m", {"7"}, kBool).output("y");
    addAttribute(m.node("Compress", {"x", "m"}, {"y"}), "axis", int64_t{0});
    OnnxImport import = m.import();
    std::optional<Run> run =
        computed(import,
                 [](const ModelPort& port) {
                   HostTensor t = HostTensor::zeros(
                       port.buffer.dtype(), port.name == "m" ? std::vector<int64_t>{7} : std::vector<int64_t>{4, 2});
                   for (int64_t i = 0; i < t.numel(); ++i) t.set(i, Scalar::of(t.dtype, port.name == "m" ? i % 2 : i));
                   return t;
                 },
                 {{"n", 4}});
    REQUIRE(run);
    CHECK(run->dims == std::vector<int64_t>{2, 2});
    CHECK(run->values == std::vector<double>{2, 3, 6, 7});
  }
}
