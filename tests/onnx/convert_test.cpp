// ONNX models written as graph files: the file builds what the importer builds.
#include <catch2/catch.hpp>

#include <filesystem>

#include "common/same_model.h"
#include "common/temp_folder.h"
#include "onnx_maker.h"

using namespace svod;

namespace {

std::string converted(const OnnxMaker& m, const LoadOptions& options = {}) {
  OnnxImport import = m.import(options);
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  Result<WrittenModel> written = m.convert(options);
  if (!written) FAIL(toText(written.error()));
  std::string text = writeGraphText(written->file);
  INFO(text);
  TempFolder folder;
  Result<Model> read = readBack(*written, folder.path(), "graph.safetensors");
  if (!read) FAIL(toText(read.error()));
  checkSameModel(*import.model, *read);
  checkText(*written);
  return text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("nodes become lines with the names of the model") {
  OnnxMaker m;
  std::vector<float> weights(8 * 3 * 3 * 3);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.01f * static_cast<float>(i);
  m.input("x", {"batch", "3", "8", "8"}).floats("conv.weight", {8, 3, 3, 3}, weights).output("out/y:0");
  m.floats("bias", {8}, {1, 2, 3, 4, 5, 6, 7, 8});
  addAttribute(m.node("Conv", {"x", "conv.weight", "bias"}, {"/layer1/conv:0"}), "pads",
               std::vector<int64_t>{1, 1, 1, 1});
  m.node("Relu", {"/layer1/conv:0"}, {"1234"});
  addAttribute(m.node("Softmax", {"1234"}, {"out/y:0"}), "axis", int64_t{1});
  CHECK(converted(m) ==
        "svod 1\n# test, opset 17\nvar batch in [1, 1048576] ~ 1\ninput x: f32[batch, 3, 8, 8]\n"
        "weight conv.weight: f32[8, 3, 3, 3] = \"graph.safetensors:conv.weight\"\n"
        "weight bias: f32[8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]\n"
        "layer1.conv.0 = conv2d(x, conv.weight, bias, padding=1)\nv1234 = relu(layer1.conv.0)\n"
        "out.y.0 = softmax(v1234, axis=1)\noutput `out/y:0` = out.y.0\n");
}

TEST_CASE("shape arithmetic and the constants it reads leave nothing behind") {
  OnnxMaker m;
  m.input("x", {"n", "2", "3"}).ints("zero", {}, {0}).ints("rest", {1}, {-1}).ints("front", {1}, {0}).output("y");
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "zero"}, {"batch"});
  m.node("Unsqueeze", {"batch", "front"}, {"batches"});
  addAttribute(m.node("Concat", {"batches", "rest"}, {"wanted"}), "axis", int64_t{0});
  m.node("Reshape", {"x", "wanted"}, {"y"});
  CHECK(converted(m) ==
        "svod 1\n# test, opset 17\nvar n in [1, 1048576] ~ 1\ninput x: f32[n, 2, 3]\n"
        "output y = reshape(x, shape=[n, -1])\n");
}

TEST_CASE("sizes that are results are written as values") {
  OnnxMaker m;
  m.input("x", {"n", "4"}).output("s", 7).output("count", 7);
  m.node("Shape", {"x"}, {"s"});
  m.node("Size", {"x"}, {"count"});
  CHECK(has(converted(m), "vector("));
}

TEST_CASE("shorter attributes that are tried leave no size to the runs") {
  OnnxMaker m;
  m.input("x", {"1", "1", "h"}).ints("flat", {1}, {-1}).ints("row", {2}, {1, -1}).output("y");
  proto::NodeProto& pool = m.node("MaxPool", {"x"}, {"half"});
  addAttribute(pool, "kernel_shape", std::vector<int64_t>{1}), addAttribute(pool, "strides", std::vector<int64_t>{2});
  m.node("Reshape", {"half", "flat"}, {"line"}), m.node("Reshape", {"line", "row"}, {"y"});
  CHECK(!has(converted(m), "equal_sizes"));
}

TEST_CASE("one name of many bodies is written with numbers") {
  OnnxMaker m;
  proto::FunctionProto& f = *m.model.add_functions();
  f.set_name("Twice");
  f.add_input("a");
  f.add_output("b");
  addNode(*f.mutable_node(), "Exp", {"a"}, {"inner"});
  addNode(*f.mutable_node(), "Sin", {"inner"}, {"b"});
  m.input("x", {"4"}).output("y");
  m.node("Twice", {"x"}, {"h"});
  m.node("Twice", {"h"}, {"y"});
  std::string text = converted(m);
  CHECK(has(text, "inner = exp(x)\n"));
  CHECK(has(text, "inner.2 = exp("));
}

TEST_CASE("values that take many lines are announced by their node") {
  OnnxMaker m;
  m.input("x", {"2", "5", "6"}).output("y");
  proto::NodeProto& node = m.node("MeanVarianceNormalization", {"x"}, {"y"});
  node.set_name("norm\none");
  addAttribute(node, "axes", std::vector<int64_t>{1, 2});
  CHECK(has(converted(m), "# MeanVarianceNormalization 'norm one'\n"));
}

TEST_CASE("how a run ends that is not what a model expects of it is written") {
  OnnxMaker m(20);
  m.input("x", {"16"}, 2).shapedOutput("y", {1, 1, 3}, 2);
  m.node("ImageDecoder", {"x"}, {"y"});
  const std::string text = converted(m);
  CHECK(has(text, "kind=\"supported\"") + has(text, "kind=supported") == 1);
  CHECK(has(text, "kind=\"valid\"") + has(text, "kind=valid") == 1);
}

TEST_CASE("models of the corpus convert; options hold for them") {
  for (const auto& entry : std::filesystem::directory_iterator("tests/onnx/corpus/onnx")) {
    if (entry.path().extension() != ".onnx") continue;
    INFO(entry.path());
    OnnxImport import = importOnnx(entry.path().string());
    Result<OnnxConversion> conversion = convertOnnx(entry.path().string(), {}, "graph.safetensors");
    REQUIRE(conversion.has_value() == import.model.has_value());
    if (!conversion) continue;
    TempFolder folder;
    Result<Model> read = readBack(conversion->written, folder.path(), "graph.safetensors");
    REQUIRE(read);
    checkSameModel(*import.model, *read);
  }
  OnnxMaker m;
  m.input("x", {"n", "3"}).output("y");
  m.node("Neg", {"x"}, {"y"});
  LoadOptions options;
  options.variables = {parseVariableOption("n=4").value()};
  CHECK(has(converted(m, options), "input x: f32[4, 3]\noutput y = -x\n"));
}

namespace {

// x [24, 1, 4] through `count` layers of more steps than are laid out.
void recurrent(OnnxMaker& m, const std::string& op, int64_t gates, int count) {
  m.input("x", {"24", "1", "4"}).output("y");
  m.floats("w", {1, 4 * gates, 4}, std::vector<float>(static_cast<size_t>(16 * gates), 0.1f)).ints("axis", {1}, {1});
  std::string from = "x";
  for (int i = 0; i < count; ++i) {
    const std::string at = std::to_string(i), to = i + 1 == count ? "y" : "s" + at;
    proto::NodeProto& node = m.node(op, {from, "w", "w"}, {"a" + at});
    addAttribute(node, "hidden_size", int64_t{4});
    if (i % 2 == 1) addAttribute(node, "direction", "reverse");
    m.node("Squeeze", {"a" + at, "axis"}, {to});
    from = to;
  }
}

// A scan that multiplies a state [4] by 0.5 and adds a row of `rows`; `body` adds more nodes that make `fresh`.
void scan(OnnxMaker& m, const std::string& start, const std::string& rows, const std::string& last,
          const std::string& body) {
  proto::NodeProto& node = m.node("Scan", {start, rows}, {last, last + ".all"});
  addAttribute(node, "num_scan_inputs", int64_t{1});
  proto::GraphProto& graph = addGraph(node, "body", {body + "h", body + "r"}, {body + "next", body + "out"});
  addNode(*graph.mutable_node(), "Mul", {body + "h", "half"}, {body + "less"});
  addNode(*graph.mutable_node(), "Add", {body + "less", body + "r"}, {body + "next"});
  addNode(*graph.mutable_node(), "Tanh", {body + "next"}, {body + "out"});
}

// A loop of 20 trips that halves its state [4]; it holds `inner` more loops, each in the one before.
proto::GraphProto& loopOf(google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes, const std::string& from,
                          const std::string& to, const std::string& body, int inner) {
  addNode(nodes, "Loop", {"trips", "", from}, {to});
  proto::NodeProto& node = *nodes.rbegin();
  proto::GraphProto& graph = addGraph(node, "body", {body + "i", body + "c", body + "h"}, {body + "go", body + "next"});
  addNode(*graph.mutable_node(), "Identity", {body + "c"}, {body + "go"});
  addNode(*graph.mutable_node(), "Mul", {body + "h", "half"}, {body + "less"});
  if (inner > 0) {
    loopOf(*graph.mutable_node(), body + "less", body + "mid", body + "n", inner - 1);
  } else {
    addNode(*graph.mutable_node(), "Identity", {body + "less"}, {body + "mid"});
  }
  addNode(*graph.mutable_node(), "Tanh", {body + "mid"}, {body + "next"});
  return graph;
}

}  // namespace

TEST_CASE("loops behind each other and in each other have the names of the model") {
  const std::pair<std::string, int64_t> kLayers[] = {{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}};
  for (const auto& [op, gates] : kLayers)
    for (int count : {1, 2, 3}) {
      INFO(op << " " << count);
      OnnxMaker m;
      recurrent(m, op, gates, count);
      std::string text = converted(m);
      CHECK(has(text, "loop step < 24"));
      CHECK_FALSE(has(text, "step.2"));
    }
  for (int count : {2, 3}) {
    OnnxMaker m;
    m.input("x", {"24", "4"}).input("h0", {"4"}).output("h" + std::to_string(count)).floats("half", {}, {0.5f});
    for (int i = 0; i < count; ++i) scan(m, "h" + std::to_string(i), "x", "h" + std::to_string(i + 1), "b");
    converted(m);
  }
  for (int inner : {0, 1, 2}) {
    INFO("loops in each other: " << inner + 1);
    OnnxMaker m;
    m.input("h0", {"4"}).output("h2").floats("half", {}, {0.5f}).ints("trips", {}, {20});
    loopOf(*m.model.mutable_graph()->mutable_node(), "h0", "h1", "a", inner);
    loopOf(*m.model.mutable_graph()->mutable_node(), "h1", "h2", "b", inner);
    converted(m);
  }
}

TEST_CASE("loops keep their names beside inputs, outputs and values that are called alike") {
  for (const std::string name : {"step", "step.1", "box"}) {
    OnnxMaker m;
    recurrent(m, "GRU", 3, 2);
    m.output(name).node("Neg", {"x"}, {name});
    m.output("z").node("Exp", {name}, {"z"});
    converted(m);
  }
  OnnxMaker m;
  recurrent(m, "RNN", 1, 2);
  m.input("step", {"4"}).output("z").node("Neg", {"step"}, {"z"});
  converted(m);
}

TEST_CASE("what cannot be imported is not converted") {
  OnnxMaker m;
  m.input("x", {"4"}).output("y");
  m.node("StringNormalizer", {"x"}, {"y"});
  Result<WrittenModel> written = m.convert();
  REQUIRE_FALSE(written);
  CHECK(written.error()->diag == Diag::Unsupported);
}
