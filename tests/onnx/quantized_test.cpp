// Quantized values: products stay sums of integers, wherever the values were moved before.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
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

TEST_CASE("largest bytes are the bytes of what is largest, unless a window has none") {
  const auto reduced = [](const std::function<void(proto::NodeProto&)>& change) {
    OnnxMaker m = dequantized({"1", "1", "3", "3"}, {2}, 0, {1, 2});
    m.output("y", kUint8);
    proto::NodeProto& pool = m.node("MaxPool", {"xf"}, {"largest"});
    addAttribute(pool, "kernel_shape", List{2, 2});
    addAttribute(pool, "strides", List{2, 2});
    change(pool);
    m.node("QuantizeLinear", {"largest", "xs", "zero"}, {"y"});
    const OnnxImport import = m.import();
    REQUIRE(import.model);
    std::vector<UOp> nodes = toposort(import.model->sink);
    return std::ranges::find(nodes, Op::Reduce, &UOp::op)->dtype();
  };
  CHECK(reduced([](proto::NodeProto&) {}) == DType::U8);
  CHECK(reduced([](proto::NodeProto& pool) { addAttribute(pool, "pads", List{1, 1, 1, 1}); }) == DType::U8);
  CHECK(reduced([](proto::NodeProto& pool) { addAttribute(pool, "ceil_mode", int64_t{1}); }) == DType::I32);
  CHECK(reduced([](proto::NodeProto& pool) { addAttribute(pool, "dilations", List{2, 2}); }) == DType::I32);
}

TEST_CASE("the largest of an axis that may be empty is no byte") {
  const auto reduced = [](const std::string& length) {
    OnnxMaker m = dequantized({"1", "1", length}, {2}, 0, {1, 2});
    m.output("y", kUint8).node("GlobalMaxPool", {"xf"}, {"largest"});
    m.node("QuantizeLinear", {"largest", "xs", "zero"}, {"y"});
    const OnnxImport import = m.import();
    REQUIRE(import.model);
    std::vector<UOp> nodes = toposort(import.model->sink);
    return std::ranges::find(nodes, Op::Reduce, &UOp::op)->dtype();
  };
  CHECK(reduced("3") == DType::U8);
  CHECK(reduced("0") == DType::I32);
}

TEST_CASE("a sum that is quantized again is multiplied once") {
  OnnxMaker m = dequantized({"1", "1", "2", "2"}, {2, 1, 1, 1}, 0, {3, -2});
  m.output("y", kUint8).floats("ys", {}, {0.5});
  m.node("Conv", {"xf", "wf", "bias"}, {"sum"});
  m.node("QuantizeLinear", {"sum", "ys", "zero"}, {"y"});
  const OnnxImport import = m.import();
  const HostTensor y = run(import);
  const std::vector<int64_t> expected{0, 3, 9, 15, 13, 5, 0, 0};
  for (int64_t i = 0; i < 8; ++i) CHECK(y.at(i).asInt() == expected[static_cast<size_t>(i)]);
  std::vector<UOp> nodes = toposort(import.model->sink);
  CHECK(std::ranges::none_of(
      nodes, [](UOp u) { return u.op() == Op::Fdiv && u.rank() == 4 && !u.shape().back().isConst(1); }));
}

TEST_CASE("a sum is divided by a scale that would make the factor overflow") {
  OnnxMaker m = dequantized({"1", "1", "2", "2"}, {2, 1, 1, 1}, 0, {3, -2});
  m.output("y", kUint8).floats("ys", {}, {1e-38});
  m.node("Conv", {"xf", "wf"}, {"sum"});
  m.node("QuantizeLinear", {"sum", "ys", "zero"}, {"y"});
  const HostTensor y = run(m.import());
  const std::vector<int64_t> expected{0, 1, 255, 255, 255, 1, 0, 0};
  for (int64_t i = 0; i < 8; ++i) CHECK(y.at(i).asInt() == expected[static_cast<size_t>(i)]);
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

namespace {

/// How the bytes of a convolution are stored.
struct Stored {
  int64_t xType, wType, xZero, wZero;
};

/// y = QLinearConv of x [1, c, 4, 5] and w [2, c, 3, 3] with pads, strides of 2 and a bias; all scales but that of y
/// are 1.
OnnxMaker paddedConvolution(const Stored& s, int64_t channels) {
  OnnxMaker m;
  const auto bytes = [&](const std::string& name, const std::vector<int64_t>& dims, int64_t type,
                         const std::vector<int64_t>& values) {
    m.ints(name + ".wide", dims, values);
    addAttribute(m.node("Cast", {name + ".wide"}, {name}), "to", type);
  };
  m.input("x", {"1", std::to_string(channels), "4", "5"}, static_cast<int>(s.xType));
  std::vector<int64_t> taps;
  for (int64_t i = 0; i < 2 * channels * 9; ++i) taps.push_back((i * 37) % 100 + (s.wType == kInt8 ? -50 : 80));
  bytes("w", {2, channels, 3, 3}, s.wType, taps);
  bytes("xz", {}, s.xType, {s.xZero}), bytes("wz", {}, s.wType, {s.wZero}), bytes("yz", {}, s.xType, {5});
  m.floats("one", {}, {1}).floats("ys", {}, {512}).ints("bias.wide", {2}, {300, -700});
  addAttribute(m.node("Cast", {"bias.wide"}, {"bias"}), "to", int64_t{6});
  auto& conv = m.output("y", static_cast<int>(s.xType))
                   .node("QLinearConv", {"x", "one", "xz", "w", "one", "wz", "ys", "yz", "bias"}, {"y"});
  addAttribute(conv, "pads", std::vector<int64_t>{1, 0, 2, 1});
  addAttribute(conv, "strides", std::vector<int64_t>{2, 2});
  return m;
}

/// What that is by its definition, where x holds 0, 1, 2, ..
std::vector<int64_t> definedConvolution(const Stored& s, int64_t channels) {
  std::vector<int64_t> y;
  for (int64_t f = 0; f < 2; ++f)
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t column = 0; column < 2; ++column) {
        int64_t sum = f == 0 ? 300 : -700;
        for (int64_t at = 0; at < channels * 9; ++at) {
          const int64_t c = at / 9, i = 2 * row + at % 9 / 3 - 1, j = 2 * column + at % 3;
          if (i < 0 || i >= 4 || j < 0 || j >= 5) continue;
          const int64_t w = ((f * channels * 9 + at) * 37) % 100 + (s.wType == kInt8 ? -50 : 80);
          sum += (c * 20 + i * 5 + j - s.xZero) * (w - s.wZero);
        }
        const int64_t low = s.xType == kInt8 ? -128 : 0;
        y.push_back(
            std::clamp<int64_t>(std::llround(std::nearbyint(static_cast<double>(sum) / 512)) + 5, low, low + 255));
      }
  return y;
}

}  // namespace

TEST_CASE("convolutions of bytes are sums of their products, whatever their types and zero points") {
  for (int64_t channels : {1, 3, 4, 5})
    for (const Stored& s : {Stored{kUint8, kInt8, 0, 0}, Stored{kUint8, kInt8, 9, 0}, Stored{kInt8, kInt8, -3, 0},
                            Stored{kUint8, kUint8, 9, 128}, Stored{kInt8, kUint8, 4, 128},
                            Stored{kUint8, kUint8, 9, 77}, Stored{kUint8, kInt8, 9, 3}}) {
      CAPTURE(channels, s.xType, s.wType, s.xZero, s.wZero);
      const HostTensor y = run(paddedConvolution(s, channels).import());
      std::vector<int64_t> got;
      for (int64_t i = 0; i < y.numel(); ++i) got.push_back(y.at(i).asInt());
      CHECK(got == definedConvolution(s, channels));
    }
}

TEST_CASE("where zero points are known a sum multiplies bytes as they are stored, also in the padding") {
  for (const Stored& s : {Stored{kUint8, kInt8, 9, 0}, Stored{kInt8, kUint8, 4, 128}}) {
    const OnnxImport import = paddedConvolution(s, 4).import();
    REQUIRE(import.model);
    int sums = 0;
    for (UOp n : toposort(import.model->sink)) {
      if (n.op() != Op::Reduce || n.src(0).op() != Op::Mul) continue;
      ++sums;
      for (UOp below : toposort(n.src(0))) CHECK((below.op() != Op::Sub || below.dtype() == DType::Index));
    }
    CHECK(sums == 1);
  }
}

TEST_CASE("zeros have a scale that models can divide by") {
  OnnxMaker m;
  m.input("x", {"n"}).output("scale").node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  CHECK(run(m.import(), {{"n", 1}}) == f32({}, {1}));
  CHECK(run(m.import(), {{"n", 2}}) == f32({}, {1 / 255.0F}));
}
