// Models that are right: what they become.
#include <catch2/catch.hpp>

#include "common/temp_folder.h"
#include "data/npy.h"
#include "ir/text.h"
#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

/// Seeds of the fuzz target, each with another kind of content.
OnnxMaker seed(const std::string& name) {
  OnnxMaker m(name == "old" ? 6 : 17);
  m.input("x", {"n", "2"}).output("y");
  if (name == "shapes") {
    m.ints("zero", {1}, {0}).ints("rest", {1}, {-1});
    m.node("Shape", {"x"}, {"s"});
    m.node("Gather", {"s", "zero"}, {"n"});
    addAttribute(m.node("Concat", {"n", "rest"}, {"wanted"}), "axis", int64_t{0});
    m.node("Reshape", {"x", "wanted"}, {"y"});
  } else if (name == "function") {
    proto::FunctionProto& f = *m.model.add_functions();
    f.set_name("Twice");
    f.add_input("a");
    f.add_output("b");
    addNode(*f.mutable_node(), "Add", {"a", "a"}, {"b"});
    m.node("Twice", {"x"}, {"y"});
  } else {
    m.floats("w", {2}, {1, 2});
    addAttribute(m.node("Mul", {"x", "w"}, {"y"}), "broadcast", int64_t{1});
  }
  return m;
}

size_t inputCount(const OnnxImport& import) {
  return static_cast<size_t>(std::ranges::count(import.model->ports, PortKind::Input, &ModelPort::kind));
}

}  // namespace

TEST_CASE("a model becomes a graph with its names") {
  OnnxMaker m;
  m.input("x", {"2", "3"}).floats("w", {3}, {1, 2, 3}).output("y");
  m.node("Mul", {"x", "w"}, {"p"});
  m.node("Relu", {"p"}, {"y"});
  OnnxImport import = m.import();
  CHECK(run(import) == HostTensor::of(DType::F32, {2, 3}, {0, 2, 6, 3, 8, 15}));
  CHECK(import.counts.nodes == 2);
  std::vector<std::string> names;
  for (const ModelPort& p : import.model->ports) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"x", "w", "y"});
}

TEST_CASE("shape arithmetic is known when the model is read") {
  // reshape(x, concat(shape(x)[0:1], [-1])), written as exporters do.
  OnnxMaker m;
  m.input("x", {"n", "2", "3"}).ints("zero", {}, {0}).ints("rest", {1}, {-1}).ints("front", {1}, {0}).output("y");
  m.node("Shape", {"x"}, {"shape"});
  addAttribute(m.node("Gather", {"shape", "zero"}, {"batch"}), "axis", int64_t{0});
  m.node("Unsqueeze", {"batch", "front"}, {"batches"});
  addAttribute(m.node("Concat", {"batches", "rest"}, {"wanted"}), "axis", int64_t{0});
  m.node("Reshape", {"x", "wanted"}, {"y"});
  OnnxImport import = m.import();
  CHECK(run(import, {{"n", 2}}).dims == std::vector<int64_t>{2, 6});
  REQUIRE(import.model->variables.size() == 1);
  CHECK(import.model->variables[0].argAs<VarArg>().name == "n");
}

TEST_CASE("products and quotients of sizes are known") {
  OnnxMaker m;
  m.input("x", {"n", "6"})
      .ints("one", {}, {1})
      .ints("zero", {}, {0})
      .ints("two", {}, {2})
      .ints("front", {1}, {0})
      .output("y");
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "zero"}, {"n"});
  m.node("Gather", {"shape", "one"}, {"six"});
  m.node("Mul", {"n", "two"}, {"twice"});
  m.node("Div", {"six", "two"}, {"half"});
  m.node("Unsqueeze", {"twice", "front"}, {"a"});
  m.node("Unsqueeze", {"half", "front"}, {"b"});
  addAttribute(m.node("Concat", {"a", "b"}, {"wanted"}), "axis", int64_t{0});
  m.node("Reshape", {"x", "wanted"}, {"y"});
  CHECK(run(m.import(), {{"n", 5}}).dims == std::vector<int64_t>{10, 3});
}

TEST_CASE("nodes may be listed in any order, in graphs inside of nodes as well") {
  // y = |a + b + x|, where If makes b of a, by a graph whose nodes are in disorder as well.
  auto listed = [](const std::vector<int>& order) {
    OnnxMaker m;
    m.input("x", {"2"}).floats("one", {1}, {1}).output("y");
    m.model.mutable_graph()->add_initializer()->set_name("yes");
    proto::TensorProto& yes = *m.model.mutable_graph()->mutable_initializer(1);
    yes.set_data_type(9);
    yes.add_int32_data(1);
    const std::function<void()> adds[] = {[&] { m.node("Add", {"x", "one"}, {"a"}); },
                                          [&] {
                                            proto::NodeProto& node = m.node("If", {"yes"}, {"b"});
                                            for (const char* branch : {"then_branch", "else_branch"}) {
                                              auto& nodes = *addGraph(node, branch, {}, {"r"}).mutable_node();
                                              addNode(nodes, "Neg", {"q"}, {"r"});
                                              addNode(nodes, "Mul", {"a", "a"}, {"q"});
                                            }
                                          },
                                          [&] { m.node("Add", {"a", "b"}, {"s"}); },
                                          [&] { m.node("Add", {"s", "x"}, {"t"}); },
                                          [&] { m.node("Abs", {"t"}, {"y"}); }};
    for (int i : order) adds[i]();
    return m;
  };
  std::vector<int> order{0, 1, 2, 3, 4};
  do {
    CHECK(run(listed(order).import()) == HostTensor::of(DType::F32, {2}, {0, 1}));
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("symbolic dims are variables that options bind") {
  OnnxMaker m;
  m.input("x", {"batch", "3"}).output("y");
  m.node("Neg", {"x"}, {"y"});
  OnnxImport free = m.import();
  REQUIRE(free.model);
  CHECK(free.model->variables[0].argAs<VarArg>().max == 1 << 20);
  LoadOptions options;
  options.variables = {parseVariableOption("batch=2:64").value()};
  OnnxImport bounded = m.import(options);
  REQUIRE(bounded.model);
  CHECK(bounded.model->variables[0].argAs<VarArg>().max == 64);
  options.variables.clear();
  options.shapes = {parseShapeOption("x=4x3").value()};
  OnnxImport fixed = m.import(options);
  REQUIRE(fixed.model);
  CHECK(fixed.model->variables.empty());
  CHECK(run(fixed).dims == std::vector<int64_t>{4, 3});
}

TEST_CASE("dims are sizes over variables, as options and the model say") {
  OnnxMaker m;
  m.input("x", {"h", "w"}).input("y", {"2*s0", "3*t + 1", "a-b"}).output("u").output("v");
  m.node("Neg", {"x"}, {"u"});
  m.node("Neg", {"y"}, {"v"});
  auto dimsOf = [&](const std::vector<std::string>& variables, const std::vector<std::string>& shapes) {
    LoadOptions options;
    for (const std::string& text : variables) options.variables.push_back(parseVariableOption(text).value());
    for (const std::string& text : shapes) options.shapes.push_back(parseShapeOption(text).value());
    OnnxImport import = m.import(options);
    if (!import.model) return toText(import.model.error());
    return toTypeText(import.model->ports[0].buffer) + " " + toTypeText(import.model->ports[1].buffer);
  };
  CHECK(dimsOf({}, {}) == "f32[h,w] f32[s0*2,t*3 + 1,\"a-b\"]");
  CHECK(dimsOf({"h=w"}, {}) == "f32[w,w] f32[s0*2,t*3 + 1,\"a-b\"]");
  CHECK(dimsOf({"h=8*k", "s0=k", "a-b=3"}, {}) == "f32[k*8,w] f32[k*2,t*3 + 1,3]");
  CHECK(dimsOf({}, {"x=24x8*k", "y=10,7,k"}) == "f32[24,k*8] f32[10,7,k]");
  CHECK(dimsOf({"h=wd"}, {}).find("the model has no variable 'wd'") != std::string::npos);
  CHECK(dimsOf({"h=w", "h=w+1"}, {}).find("[bind-mismatch]") != std::string::npos);
  CHECK(dimsOf({}, {"y=7,4,3"}).find("2*s0 = 7 has no solution") != std::string::npos);
}

TEST_CASE("a name is a sum of sizes where a run finds all of them") {
  auto dimsOf = [](const OnnxMaker::Names& x, const OnnxMaker::Names& y, const std::string& variable = "") {
    OnnxMaker m;
    m.input("x", x).input("y", y).output("u").output("v");
    m.node("Neg", {"x"}, {"u"}), m.node("Neg", {"y"}, {"v"});
    LoadOptions options;
    if (!variable.empty()) options.variables.push_back(parseVariableOption(variable).value());
    const OnnxImport import = m.import(options);
    REQUIRE(import.model);
    return toTypeText(import.model->ports[0].buffer) + " " + toTypeText(import.model->ports[1].buffer);
  };
  CHECK(dimsOf({"n+m"}, {"m"}) == "f32[n + m] f32[m]");
  CHECK(dimsOf({"n+m+k"}, {"m"}) == "f32[\"n+m+k\"] f32[m]");
  CHECK(dimsOf({"n+m+k", "2*k"}, {"m"}) == "f32[n + k + m,k*2] f32[m]");
  CHECK(dimsOf({"n+m+k"}, {"n + m"}) == "f32[\"n+m+k\"] f32[\"n + m\"]");
  CHECK(dimsOf({"n+m+k"}, {"m"}, "k=1:8") == "f32[k + n + m] f32[m]");
  CHECK(dimsOf({"n+m"}, {"n-m", "n - m"}, "n=7") == "f32[m + 7] f32[\"n-m\",m*-1 + 7]");
}

TEST_CASE("an input can be made a constant") {
  TempFolder folder;
  const int64_t shape[] = {3, 2};
  const uint64_t dims[] = {2};
  REQUIRE(writeNpy(folder / "shape.npy", ElementType::I64, dims, std::as_bytes(std::span(shape))));
  OnnxMaker m;
  m.input("x", {"6"}).input("shape", {"2"}, 7).output("y");
  m.node("Reshape", {"x", "shape"}, {"y"});
  CHECK(m.import().errors.at(0)->diag == Diag::Unsupported);
  LoadOptions options;
  options.constants = {{"shape", folder / "shape.npy"}};
  OnnxImport import = m.import(options);
  CHECK(run(import).dims == std::vector<int64_t>{3, 2});
  CHECK(inputCount(import) == 1);
}

TEST_CASE("an input that is an initializer has that value") {
  OnnxMaker m;
  m.input("x", {"2"}).input("w", {"2"}).floats("w", {2}, {5, 7}).output("y");
  m.node("Add", {"x", "w"}, {"y"});
  OnnxImport import = m.import();
  CHECK(run(import) == HostTensor::of(DType::F32, {2}, {5, 8}));
  CHECK(inputCount(import) == 1);
}

TEST_CASE("constants whose names begin alike for a thousand letters get names of their own") {
  OnnxMaker m;
  m.input("x", {"2"}).output("y");
  const std::string stem(1200, 'w');
  for (const char* end : {"a", "b", "c"}) m.floats(stem + end, {2}, {1, 2});
  m.node("Add", {"x", stem + "a"}, {"p"});
  m.node("Add", {"p", stem + "b"}, {"q"});
  m.node("Add", {"q", stem + "c"}, {"y"});
  HostTensor y = run(m.import());
  CHECK(y.at(0).asFloat() == 3);
  CHECK(y.at(1).asFloat() == 7);
}

TEST_CASE("functions of the model are expanded, with their attributes") {
  OnnxMaker m;
  m.input("x", {"2"}).output("y");
  m.model.add_opset_import()->set_domain("own");
  m.model.mutable_opset_import(1)->set_version(1);
  proto::FunctionProto& f = *m.model.add_functions();
  f.set_name("TotalOf");
  f.set_domain("own");
  f.add_input("a");
  f.add_output("b");
  f.add_attribute("keep");
  f.add_opset_import()->set_version(11);
  addNode(*f.mutable_node(), "Neg", {"a"}, {"n"});
  addNode(*f.mutable_node(), "ReduceSum", {"n"}, {"b"});
  proto::AttributeProto& keep = *f.mutable_node(1)->add_attribute();
  keep.set_name("keepdims");
  keep.set_type(2);
  keep.set_ref_attr_name("keep");
  addAttribute(m.node("own::TotalOf", {"x"}, {"t"}), "keep", int64_t{0});
  m.node("Sub", {"x", "t"}, {"y"});
  CHECK(run(m.import()) == HostTensor::of(DType::F32, {2}, {1, 2}));
}

TEST_CASE("old opsets broadcast from an axis") {
  OnnxMaker m(6);
  m.input("x", {"1", "2", "2"}).floats("w", {2}, {10, 20}).output("y");
  proto::NodeProto& add = m.node("Add", {"x", "w"}, {"y"});
  addAttribute(add, "broadcast", int64_t{1});
  addAttribute(add, "axis", int64_t{1});
  CHECK(run(m.import()) == HostTensor::of(DType::F32, {1, 2, 2}, {10, 11, 22, 23}));
}

TEST_CASE("the seeds of the fuzz target are models") {
  for (const char* name : {"shapes", "function", "old"}) {
    INFO(name);
    const std::string path = std::string(SVOD_TEST_DIR "/corpus/onnx/") + name + ".onnx";
    if (std::getenv("SVOD_UPDATE") != nullptr) writeText(path, seed(name).bytes());
    CHECK(readText(path) == seed(name).bytes());
    CHECK(seed(name).import().errors.empty());
  }
}

TEST_CASE("external data is found beside the model") {
  TempFolder folder;
  const float weights[] = {0, 0, 3, 4};
  writeText(folder / "data.bin", std::string(reinterpret_cast<const char*>(weights), sizeof weights));
  OnnxMaker m;
  m.input("x", {"2"}).output("y");
  proto::TensorProto& t = *m.model.mutable_graph()->add_initializer();
  t.set_name("w");
  t.set_data_type(1);
  t.add_dims(2);
  t.set_data_location(1);
  auto entry = [&](const char* key, const char* value) {
    t.add_external_data()->set_key(key);
    t.mutable_external_data()->rbegin()->set_value(value);
  };
  entry("location", "data.bin");
  entry("offset", "8");
  entry("length", "8");
  m.node("Add", {"x", "w"}, {"y"});
  writeText(folder / "m.onnx", m.bytes());
  CHECK(run(importOnnx(folder / "m.onnx")) == HostTensor::of(DType::F32, {2}, {3, 5}));
  for (const char* outside : {"../data.bin", "/etc/hostname", "", ".", "a/../../data.bin"}) {
    INFO(outside);
    t.mutable_external_data(0)->set_value(outside);
    writeText(folder / "m.onnx", m.bytes());
    CHECK(importOnnx(folder / "m.onnx").errors.at(0)->diag == Diag::Syntax);
  }
  t.mutable_external_data(0)->set_value("data.bin");
  t.mutable_external_data(1)->set_value("12");
  writeText(folder / "m.onnx", m.bytes());
  CHECK(importOnnx(folder / "m.onnx").errors.at(0)->diag == Diag::BadWeights);
}

TEST_CASE("names of ONNX models end in .onnx, also in capitals") {
  for (const char* name : {"m.onnx", "M.ONNX", "a/b.Onnx", ".onnx"}) CHECK(isOnnxPath(name));
  for (const char* name : {"onnx", "m.onnx.svod", "m.pb", ""}) CHECK_FALSE(isOnnxPath(name));
}
