// Quantized values: products stay sums of integers, wherever the values were moved before.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int64_t kUint8 = 2, kInt8 = 3;

/// xf, which is u8 x with scale 0.5 and zero 1, and wf, which is i8 with the scales 2 and 4 along `axis`.
OnnxMaker dequantized(const OnnxMaker::Names& x, const std::vector<int64_t>& w, int64_t axis,
                      const std::vector<int64_t>& values) {
  OnnxMaker m;
  m.input("x", x, kUint8).ints("one", {}, {1}).ints("wide", w, values);
  m.floats("xs", {}, {0.5}).floats("ws", {2}, {2, 4}).floats("bias", {2}, {1, 2});
  addAttribute(m.node("Cast", {"one"}, {"zero"}), "to", kUint8);
  addAttribute(m.node("Cast", {"wide"}, {"w"}), "to", kInt8);
  m.node("DequantizeLinear", {"x", "xs", "zero"}, {"xf"});
  addAttribute(m.node("DequantizeLinear", {"w", "ws"}, {"wf"}), "axis", axis);
  return m;
}

/// y of op(xf, wf, [bias]).
OnnxMaker quantized(const std::string& op, const OnnxMaker::Names& x, const std::vector<int64_t>& w, int64_t axis,
                    const std::vector<int64_t>& values, const std::string& bias = "") {
  OnnxMaker m = dequantized(x, w, axis, values);
  m.output("y").node(op, bias.empty() ? OnnxMaker::Names{"xf", "wf"} : OnnxMaker::Names{"xf", "wf", bias}, {"y"});
  return m;
}

bool sumsFloats(const OnnxImport& import) {
  REQUIRE(import.model);
  std::vector<UOp> nodes = toposort(import.model->sink);
  return std::ranges::any_of(nodes, [](UOp u) { return u.op() == Op::Reduce && isFloat(u.dtype()); });
}

}  // namespace

TEST_CASE("products of dequantized values are integers") {
  OnnxImport conv = quantized("Conv", {"1", "1", "2", "2"}, {2, 1, 1, 1}, 0, {3, -2}, "bias").import();
  CHECK(run(conv) == f32({1, 2, 2, 2}, {-2, 1, 4, 7, 6, 2, -2, -6}));
  CHECK_FALSE(sumsFloats(conv));
  OnnxImport matmul = quantized("MatMul", {"2", "2"}, {2, 2}, 1, {3, -2, 1, 5}).import();
  CHECK(run(matmul) == f32({2, 2}, {-3, 4, 5, 16}));
  CHECK_FALSE(sumsFloats(matmul));
  OnnxMaker transposed = quantized("Gemm", {"2", "2"}, {2, 2}, 0, {3, 1, -2, 5}, "bias");
  addAttribute(*transposed.model.mutable_graph()->mutable_node(4), "transB", int64_t{1});
  CHECK(run(transposed.import()) == f32({2, 2}, {-2, 6, 6, 18}));
  CHECK_FALSE(sumsFloats(transposed.import()));

  // Scales that differ between the terms of a sum do not factor out.
  OnnxImport mixed = quantized("MatMul", {"2", "2"}, {2, 2}, 0, {3, -2, 1, 5}).import();
  CHECK(run(mixed) == f32({2, 2}, {-3, 2, 7, 18}));
  CHECK(sumsFloats(mixed));
}

namespace {

using List = std::vector<int64_t>;

void none(proto::NodeProto&) {}

/// A node between DequantizeLinear and a product.
struct Moved {
  std::string op;
  OnnxMaker::Names operands = {};  // behind the first: constants of the model below, or the first again
  std::function<void(proto::NodeProto&)> attribute = none;
  std::vector<int64_t> weightDims = {2, 2};
  int64_t axis = 1;  // of the scales of the weight
};

/// y = moved(xf) . wf, or xf . moved(wf); what is moved was multiplied by 1 where `isFloat`, and is a float for sure.
OnnxImport moved(const Moved& node, bool isWeight, bool isFloat) {
  int64_t count = 1;
  for (int64_t d : node.weightDims) count *= d;
  std::vector<int64_t> values{3, -2, 1, 5, 7, -6, 4, -1};
  values.resize(static_cast<size_t>(count));
  OnnxMaker m = dequantized({"1", "4", "2", "2"}, node.weightDims, node.axis, values);
  m.output("y").floats("one.f", {}, {1}).floats("zero.f", {}, {0}).ints("rows", {2}, {-1, 2}).ints("1,0", {2}, {1, 0});
  m.ints("0", {1}, {0}).ints("1", {1}, {1}).ints("3", {1}, {3}).ints("4,1,2,2", {4}, {4, 1, 2, 2});
  m.ints("2,-1", {2}, {2, -1}).ints("2,4,2,2", {4}, {2, 4, 2, 2}).floats("1,1,2,2", {4}, {1, 1, 2, 2});
  m.ints("pads", {8}, {0, 0, 1, 0, 0, 0, 1, 0}).floats("other", {1, 4, 2, 2}, std::vector<float>(16, 1.5F));
  std::string from = isWeight ? "wf" : "xf";
  if (isFloat) m.node("Mul", {from, "one.f"}, {"product"}), from = "product";
  OnnxMaker::Names operands{from}, results{"moved"};
  for (const std::string& o : node.operands) operands.push_back(o == "again" ? from : o);
  if (node.op == "Split") results.push_back("second");
  node.attribute(m.node(node.op, operands, results));
  m.node("Reshape", {isWeight ? "xf" : "moved", "rows"}, {"matrix"});
  m.node("MatMul", {"matrix", isWeight ? "moved" : "wf"}, {"y"});
  return m.import();
}

template <class Value>
auto with(const std::string& name, const Value& value) {
  return [=](proto::NodeProto& node) { addAttribute(node, name, value); };
}

void checkMoved(const Moved& node, bool isWeight) {
  CAPTURE(node.op, isWeight);
  OnnxImport import = moved(node, isWeight, false), floats = moved(node, isWeight, true);
  CHECK_FALSE(sumsFloats(import));
  CHECK(sumsFloats(floats));
  CHECK(run(import) == run(floats));
}

}  // namespace

TEST_CASE("integers are moved where dequantized values are") {
  const Moved kMoved[] = {{"Concat", {"again"}, with("axis", int64_t{1})},
                          {"DepthToSpace", {}, with("blocksize", int64_t{2})},
                          {"Expand", {"2,4,2,2"}},
                          {"Flatten"},
                          {"Gather", {"1,0"}, with("axis", int64_t{1})},
                          {"GlobalMaxPool"},
                          {"MaxPool", {}, with("kernel_shape", List{2, 1})},
                          {"Pad", {"pads"}},
                          {"Pad", {"pads", "zero.f"}},
                          {"Relu"},
                          {"Reshape", {"4,1,2,2"}},
                          {"Resize", {"", "1,1,2,2"}, with("mode", std::string("nearest"))},
                          {"Slice", {"1", "3", "1"}},
                          {"SpaceToDepth", {}, with("blocksize", int64_t{2})},
                          {"Split", {}, with("axis", int64_t{1})},
                          {"Squeeze", {"0"}},
                          {"Tile", {"2,4,2,2"}},
                          {"Transpose", {}, with("perm", List{0, 3, 1, 2})},
                          {"Unsqueeze", {"1"}}};
  for (const Moved& m : kMoved) checkMoved(m, false);
  // What is filled in, or stands beside it, is no integer times the scale.
  CHECK(sumsFloats(moved({"Pad", {"pads", "one.f"}}, false, false)));
  CHECK(sumsFloats(moved({"Concat", {"other"}, with("axis", int64_t{1})}, false, false)));
}

TEST_CASE("scales follow their axis") {
  const Moved kMoved[] = {{"Concat", {"again"}, with("axis", int64_t{0}), {1, 2}, 1},
                          {"Flatten"},
                          {"Gather", {"1,0"}, with("axis", int64_t{0})},
                          {"Relu"},
                          {"Reshape", {"2,-1"}, none, {1, 2, 2}, 2},
                          {"Slice", {"1", "3", "0"}, none, {3, 2}, 1},
                          {"Split", {}, with("axis", int64_t{0}), {4, 2}, 1},
                          {"Squeeze", {"0"}, none, {1, 2, 2}, 2},
                          {"Transpose", {}, with("perm", List{1, 0}), {2, 2}, 0},
                          {"Unsqueeze", {"0"}}};
  for (const Moved& m : kMoved) checkMoved(m, true);
  // Mixed among columns, a scale of its own for every term, and reordered.
  CHECK(sumsFloats(moved({"Reshape", {"2,-1"}, none, {1, 2, 2}, 1}, true, false)));
  CHECK(sumsFloats(moved({"Transpose", {}, with("perm", List{1, 0}), {2, 2}, 1}, true, false)));
  CHECK(sumsFloats(moved({"Gather", {"1,0"}, with("axis", int64_t{1})}, true, false)));
}

TEST_CASE("quantizing with the scale of before gives integers back") {
  OnnxMaker m = dequantized({"1", "4", "2", "2"}, {2}, 0, {1, 2});
  m.output("y", kUint8);
  addAttribute(m.node("MaxPool", {"xf"}, {"largest"}), "kernel_shape", List{2, 2});
  m.node("QuantizeLinear", {"largest", "xs", "zero"}, {"y"});
  OnnxImport import = m.import();
  HostTensor y = run(import);
  for (int64_t i = 0; i < 4; ++i) CHECK(y.at(i).asInt() == 4 * i + 3);
  std::vector<UOp> nodes = toposort(import.model->sink);
  for (UOp u : nodes) {
    CAPTURE(toText(u.op()));
    CHECK_FALSE(isFloat(u.dtype()));
  }

  // Another scale needs a quotient.
  OnnxMaker other = dequantized({"4"}, {2}, 0, {1, 2});
  other.output("y", kUint8).floats("third", {}, {0.25});
  other.node("QuantizeLinear", {"xf", "third", "zero"}, {"y"});
  HostTensor z = run(other.import());
  for (int64_t i = 0; i < 4; ++i) CHECK(z.at(i).asInt() == std::max<int64_t>(0, 2 * i - 1));
}

TEST_CASE("both operands may have scales along an axis of the result") {
  OnnxMaker m = dequantized({"1"}, {2, 2}, 0, {3, -2, 1, 5});
  m.output("y").ints("right", {2, 2}, {1, 2, 3, 4});
  addAttribute(m.node("Cast", {"right"}, {"r"}), "to", kInt8);
  addAttribute(m.node("DequantizeLinear", {"r", "ws"}, {"rf"}), "axis", int64_t{1});
  m.node("MatMul", {"wf", "rf"}, {"y"});
  CHECK(run(m.import()) == f32({2, 2}, {-12, -16, 128, 352}));
  CHECK_FALSE(sumsFloats(m.import()));
}

TEST_CASE("transposed convolutions of dequantized values are sums of integers") {
  OnnxMaker m = quantized("ConvTranspose", {"1", "1", "2", "2"}, {1, 2, 1, 1}, 1, {3, -2}, "bias");
  CHECK(run(m.import()) == f32({1, 2, 2, 2}, {-2, 1, 4, 7, 6, 2, -2, -6}));
  CHECK_FALSE(sumsFloats(m.import()));
}
