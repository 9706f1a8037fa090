// Sizes of inputs: bounds that let an axis be empty, names that meet, and what an op asks of them.
#include <catch2/catch.hpp>

#include <algorithm>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

TEST_CASE("an axis that may be empty is reversed") {
  for (const char* columns : {"0:4", "0:1"})
    for (int64_t start : {-1, 2, -3})
      for (int64_t end : {0, -2, -9}) {
        OnnxMaker m;
        m.input("x", {"h"}).output("y").ints("start", {1}, {start}).ints("end", {1}, {end});
        m.ints("axis", {1}, {0}).ints("step", {1}, {-1});
        m.node("Slice", {"x", "start", "end", "axis", "step"}, {"y"});
        LoadOptions bounds;
        bounds.variables.push_back(parseVariableOption(std::string("h=") + columns).value());
        OnnxImport import = m.import(bounds);
        for (int64_t h : {0, 1, 4}) {
          if (h > columns[2] - '0') continue;
          INFO(start << " to " << end << " of " << h);
          const int64_t first = std::clamp<int64_t>(start < 0 ? start + h : start, 0, std::max<int64_t>(h - 1, 0));
          const int64_t last = end < 0 ? std::max<int64_t>(end + h, -1) : std::min(end, h - 1);
          HostTensor y = run(import, {{"h", h}});
          REQUIRE(y.dims == std::vector<int64_t>{h == 0 ? 0 : std::max<int64_t>(first - last, 0)});
          for (int64_t i = 0; i < y.numel(); ++i) CHECK(y.at(i).asFloat() == static_cast<double>(first - i));
        }
      }
}

TEST_CASE("a run has one sample unless something says otherwise") {
  const auto likely = [](const OnnxMaker::Names& dims, std::string_view name) -> int64_t {
    OnnxMaker m;
    m.input("x", dims).output("y");
    m.node("Relu", {"x"}, {"y"});
    const OnnxImport import = m.import();
    REQUIRE(import.model);
    for (UOp v : import.model->variables)
      if (v.argAs<VarArg>().name == name) return v.argAs<VarArg>().likely;
    return -1;
  };
  CHECK(likely({"n", "3", "h"}, "n") == 1);
  CHECK(likely({"n", "3", "h"}, "h") == 64);
  CHECK(likely({"n"}, "n") == 64);
  CHECK(likely({"n", "n"}, "n") == 64);
  CHECK(likely({"words", "Batch_size"}, "words") == 64);
  CHECK(likely({"words", "Batch_size"}, "Batch_size") == 1);
}

TEST_CASE("an axis that may be empty is resized") {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (float scale : {0.5f, 1.5f, 2.f}) {
      OnnxMaker m(18);
      m.input("x", {"1", "2", "h"}).output("y").floats("scales", {3}, {1, 1, scale});
      addAttribute(m.node("Resize", {"x", "", "scales"}, {"y"}), "mode", std::string(mode));
      auto sized = [&](const std::string& h) {
        LoadOptions options;
        options.variables.push_back(parseVariableOption("h=" + h).value());
        return m.import(options);
      };
      OnnxImport import = sized("0:9");
      CHECK(run(import, {{"h", 0}}).dims == std::vector<int64_t>{1, 2, 0});
      for (int64_t h : {2, 5, 9}) {
        INFO(mode << " by " << scale << " of " << h);
        HostTensor got = run(import, {{"h", h}}), wanted = run(sized(std::to_string(h)));
        REQUIRE(got.dims == wanted.dims);
        for (int64_t i = 0; i < got.numel(); ++i)
          CHECK(got.at(i).asFloat() == Approx(wanted.at(i).asFloat()).margin(1e-5));
      }
    }
}

TEST_CASE("sizes under two names with bounds meet, and a run in which they differ says so") {
  for (std::string op : {"Add", "MatMul", "Concat", "Where"}) {
    OnnxMaker m;
    m.input("x", {"n", "h"}).output("y");
    m.input("z", op == "MatMul" ? OnnxMaker::Names{"k", "2"} : OnnxMaker::Names{"m", "k"});
    if (op == "Where") m.node("Greater", {"x", "z"}, {"c"});
    auto& node = m.node(op, op == "Where" ? OnnxMaker::Names{"c", "x", "z"} : OnnxMaker::Names{"x", "z"}, {"y"});
    if (op == "Concat") addAttribute(node, "axis", int64_t{0});
    INFO(op);
    LoadOptions bounds;  // without them two names would be taken for one
    for (const std::string name : {"n", "h", "k", "m"})
      if (name != "m" || op != "MatMul") bounds.variables.push_back(parseVariableOption(name + "=1:64").value());
    OnnxImport import = m.import(bounds);
    for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
    REQUIRE(import.model);
    CHECK(run(import, {{"n", 3}, {"m", 3}, {"h", 4}, {"k", 4}}).numel() > 0);
    CHECK(m.convert(bounds));
    Result<std::vector<HostTensor>> wrong =
        interpret(*import.model, bindingsOf(*import.model, {{"n", 3}, {"m", 3}, {"h", 4}, {"k", 5}}));
    REQUIRE(!wrong);
    CHECK(wrong.error()->message.find("the sizes") != std::string::npos);
  }
}

TEST_CASE("TopK of up to three of a free size takes passes over it, and no sort of the greatest size") {
  OnnxMaker m(18);
  m.input("x", {"n", "2"}).output("y").ints("first", {1}, {0}).ints("three", {1}, {3});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "first"}, {"size"});
  m.node("Min", {"size", "three"}, {"k"});
  addAttribute(m.node("TopK", {"x", "k"}, {"y", "i"}), "axis", int64_t{0});
  LoadOptions bounds;
  bounds.variables.push_back(parseVariableOption("n=1:131072").value());
  const OnnxImport import = m.import(bounds);
  REQUIRE(import.model);
  CHECK(toposort(import.model->sink).size() < 400);
  for (int64_t n : {1, 2, 3, 7}) {
    const HostTensor y = run(import, {{"n", n}});
    REQUIRE(y.dims == std::vector<int64_t>{std::min<int64_t>(n, 3), 2});
    for (int64_t i = 0; i < y.numel(); ++i)
      CHECK(y.at(i).asFloat() == static_cast<double>(2 * (n - 1 - i / 2) + i % 2));
  }
}

TEST_CASE("TopK of a free size: it has k elements or more, unless its bounds say otherwise; then runs say so") {
  OnnxMaker m;
  m.input("x", {"n"}).output("y").ints("k", {1}, {5});
  m.node("TopK", {"x", "k"}, {"y", "i"});
  OnnxImport free = m.import();
  for (const Error& e : free.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(free.model);
  REQUIRE(free.model->variables.size() == 1);
  CHECK(free.model->variables[0].bounds().min == 5);
  CHECK(free.model->equalSizes.empty());
  LoadOptions bounds;
  bounds.variables.push_back(parseVariableOption("n=1:9").value());
  OnnxImport bound = m.import(bounds);
  REQUIRE(bound.model);
  CHECK(bound.model->equalSizes.size() == 1);
  CHECK(run(bound, {{"n", 5}}).dims == std::vector<int64_t>{5});
  CHECK(m.convert(bounds));
}

TEST_CASE("sizes that a condition chooses leave the others the room that they have without it") {
  // x of four free sizes, or its sum, as a size of it says.
  const auto bounds = [](bool isChosen) {
    OnnxMaker m;
    m.input("x", {"a", "b", "c", "d"}).input("s", {"k"}).output("y").ints("three", {1}, {3});
    if (!isChosen) m.node("Relu", {"x"}, {"y"});
    if (isChosen) {
      m.node("Shape", {"s"}, {"size"}), m.node("Greater", {"size", "three"}, {"more"});
      m.node("Squeeze", {"more"}, {"condition"});
      proto::NodeProto& choice = m.node("If", {"condition"}, {"y"});
      addNode(*addGraph(choice, "then_branch", {}, {"u"}).mutable_node(), "Relu", {"x"}, {"u"});
      addNode(*addGraph(choice, "else_branch", {}, {"v"}).mutable_node(), "ReduceSum", {"x"}, {"v"});
    }
    const OnnxImport import = m.import();
    for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
    REQUIRE(import.model);
    std::vector<Interval> all;
    for (UOp v : import.model->variables)
      if (v.argAs<VarArg>().name != "k") all.push_back(v.bounds());
    return all;
  };
  CHECK(bounds(true) == bounds(false));
}

TEST_CASE("what bounds of nodes let the last rows of all take has room in a plan") {
  OnnxMaker m;
  m.input("x", {"b", "t", "8"}).output("y").ints("from", {1}, {-3}).ints("to", {1}, {INT64_MAX}).ints("one", {1}, {1});
  m.node("Slice", {"x", "from", "to", "one"}, {"last"});
  addAttribute(m.node("Transpose", {"last"}, {"columns"}), "perm", std::vector<int64_t>{0, 2, 1});
  m.node("MatMul", {"last", "columns"}, {"scores"}), m.node("Softmax", {"scores"}, {"weights"});
  m.node("MatMul", {"weights", "last"}, {"y"});
  const OnnxImport import = m.import();
  REQUIRE(import.model);
  for (UOp n : toposort(import.model->sink))
    if (n.op() == Op::Reduce) CHECK(n.maxNumel() <= int64_t{1} << 52);
}

TEST_CASE("a length that a length chooses has the room that sizes give it") {
  OnnxMaker m;
  m.input("x", {"a", "b", "2", "c"}).output("y").ints("all", {1}, {-1}).ints("three", {1}, {3}).floats("zero", {}, {0});
  m.node("Reshape", {"x", "all"}, {"flat"}), m.node("Greater", {"flat", "zero"}, {"mask"});
  m.node("Compress", {"flat", "mask"}, {"kept"});
  m.node("Shape", {"kept"}, {"count"}), m.node("Greater", {"count", "three"}, {"more"});
  m.node("Squeeze", {"more"}, {"condition"});
  proto::NodeProto& choice = m.node("If", {"condition"}, {"y"});
  auto& then = *addGraph(choice, "then_branch", {}, {"u"}).mutable_node();
  addNode(then, "Concat", {"kept", "kept"}, {"u"});
  addAttribute(*then.Mutable(0), "axis", int64_t{0});
  addNode(*addGraph(choice, "else_branch", {}, {"v"}).mutable_node(), "Relu", {"flat"}, {"v"});
  const OnnxImport import = m.import();
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  const auto y = std::ranges::find(import.model->ports, "y", &ModelPort::name);
  REQUIRE(y != import.model->ports.end());
  CHECK(std::ranges::any_of(toposort(std::array{y->buffer}), [](UOp n) { return n.op() == Op::Var; }));
}
