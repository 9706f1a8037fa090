// Opsets, attributes and forms of ops that the published cases leave out.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/op_table.h"
#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int kInt64 = 7, kBool = 9, kF16 = 10, kBF16 = 16;

std::string word(const char* text) { return text; }

HostTensor einsum(const std::string& equation, const OnnxMaker::Names& a, const OnnxMaker::Names& b = {}) {
  OnnxMaker m;
  m.input("a", a).output("y");
  if (!b.empty()) m.input("b", b);
  addAttribute(m.node("Einsum", b.empty() ? OnnxMaker::Names{"a"} : OnnxMaker::Names{"a", "b"}, {"y"}), "equation",
               equation);
  return run(m.import());
}

}  // namespace

TEST_CASE("old PRelu has a slope per channel") {
  OnnxMaker m(6);
  m.input("x", {"1", "2", "2"}).floats("slope", {2}, {2, 3}).output("y");
  m.node("Neg", {"x"}, {"n"});
  m.node("PRelu", {"n", "slope"}, {"y"});
  CHECK(sameValues(run(m.import()), f32({1, 2, 2}, {0, -2, -6, -9}), true));
}

TEST_CASE("old Pad cuts and pads with a value") {
  OnnxMaker m(2);
  m.input("x", {"2", "3"}).output("y");
  proto::NodeProto& pad = m.node("Pad", {"x"}, {"y"});
  addAttribute(pad, "pads", std::vector<int64_t>{1, -1, 0, 1});
  addAttribute(pad, "value", 7.0f);
  CHECK(run(m.import()) == f32({3, 3}, {7, 7, 7, 1, 2, 7, 4, 5, 7}));
}

TEST_CASE("old Tile, Split and TopK") {
  OnnxMaker tile(1);
  tile.input("x", {"2"}).floats("tiles", {1}, {2}).floats("axis", {1}, {0}).output("y");
  tile.node("Tile", {"x", "tiles", "axis"}, {"y"});
  CHECK(run(tile.import()) == f32({4}, {0, 1, 0, 1}));

  OnnxMaker split(2);
  split.input("x", {"3"}).output("y");
  addAttribute(split.node("Split", {"x"}, {"a", "b"}), "split", std::vector<int64_t>{1, 2});
  addAttribute(split.node("Concat", {"b", "a"}, {"y"}), "axis", int64_t{0});
  CHECK(run(split.import()) == f32({3}, {1, 2, 0}));

  OnnxMaker top(1);
  top.input("x", {"4"}).output("y");
  addAttribute(top.node("TopK", {"x"}, {"y", "i"}), "k", int64_t{2});
  CHECK(run(top.import()) == f32({2}, {3, 2}));
}

TEST_CASE("an uneven Split has a smaller last part") {
  OnnxMaker m(18);
  m.input("x", {"5"}).output("y");
  addAttribute(m.node("Split", {"x"}, {"a", "b", "c"}), "num_outputs", int64_t{3});
  addAttribute(m.node("Concat", {"c", "a", "b"}, {"y"}), "axis", int64_t{0});
  CHECK(run(m.import()) == f32({5}, {4, 0, 1, 2, 3}));
}

TEST_CASE("einsum: diagonals, traces, ellipses, order") {
  CHECK(einsum("ii->i", {"3", "3"}) == f32({3}, {0, 4, 8}));
  CHECK(einsum("ii", {"3", "3"}) == f32({}, {12}));
  CHECK(einsum("...ij -> ...ji", {"1", "2", "2"}) == f32({1, 2, 2}, {0, 2, 1, 3}));
  CHECK(einsum("ij,jk", {"2", "2"}, {"2", "1"}) == f32({2, 1}, {1, 3}));
  CHECK(einsum("...ij,jk->k...", {"1", "2", "2"}, {"2", "2"}) == f32({2, 1}, {8, 14}));
  CHECK(einsum("ba", {"2", "2"}) == f32({2, 2}, {0, 2, 1, 3}));
}

TEST_CASE("fmod of large quotients") {
  OnnxMaker m;
  m.input("x", {"3"}).floats("a", {3}, {1e7F, -7.5F, 5}).floats("b", {3}, {3, 2, INFINITY}).output("y");
  addAttribute(m.node("Mod", {"a", "b"}, {"r"}), "fmod", int64_t{1});
  m.node("Identity", {"r"}, {"y"});
  CHECK(run(m.import()) == f32({3}, {1, -1.5, 5}));
}

TEST_CASE("ScatterElements keeps the greatest or least element in files of opset 16 as well") {
  for (const auto& [reduction, opset] : {std::pair<std::string, int>{"max", 16}, {"min", 16}, {"max", 18}}) {
    OnnxMaker m(opset);
    m.input("x", {"3"}).ints("at", {3}, {2, 0, 2}).floats("updates", {3}, {1, -4, 7}).output("y");
    addAttribute(m.node("ScatterElements", {"x", "at", "updates"}, {"y"}), "reduction", reduction);
    CHECK(run(m.import()) == (reduction == "max" ? f32({3}, {0, 1, 7}) : f32({3}, {-4, 1, 1})));
  }
}

TEST_CASE("powers of integers, with negative exponents") {
  OnnxMaker m;
  m.ints("a", {4}, {2, -1, 1, 3}).ints("e", {4}, {62, -3, -5, -1}).output("y", kInt64);
  m.node("Pow", {"a", "e"}, {"y"});
  CHECK(run(m.import()) == HostTensor::of(DType::I64, {4}, {4611686018427387904.0, -1, 1, 0}));
}

TEST_CASE("casts to 8-bit floats without saturation") {
  auto cast = [](int64_t to, float limit) {
    OnnxMaker m(19);
    m.floats("x", {3}, {limit, -1e6F, 1}).output("y");
    proto::NodeProto& node = m.node("Cast", {"x"}, {"c"});
    addAttribute(node, "to", to);
    addAttribute(node, "saturate", int64_t{0});
    addAttribute(m.node("Cast", {"c"}, {"y"}), "to", int64_t{1});
    return run(m.import());
  };
  CHECK(sameValues(cast(17, 464), f32({3}, {448, NAN, 1})));
  CHECK(sameValues(cast(19, 61439), f32({3}, {57344, -INFINITY, 1})));
}

namespace {

// A bidirectional RNN that adds up its inputs, capped at 4.
OnnxMaker addingRnn(bool isBatchFirst) {
  OnnxMaker m(14);
  m.input("x", isBatchFirst ? OnnxMaker::Names{"1", "3", "1"} : OnnxMaker::Names{"3", "1", "1"});
  m.floats("w", {2, 1, 1}, {1, 1}).floats("r", {2, 1, 1}, {1, 1}).output("y");
  return m;
}

void addRnn(OnnxMaker& m, const OnnxMaker::Names& inputs, const OnnxMaker::Names& outputs, bool isBatchFirst) {
  proto::NodeProto& rnn = m.node("RNN", inputs, outputs);
  addAttribute(rnn, "direction", word("bidirectional"));
  addAttribute(rnn, "layout", int64_t{isBatchFirst});
  addAttribute(rnn, "clip", 2.5F);
  proto::AttributeProto& activations = *rnn.add_attribute();
  activations.set_name("activations");
  activations.set_type(8);
  activations.add_strings("relu");
  activations.add_strings("Affine");
  proto::AttributeProto& alpha = *rnn.add_attribute();
  alpha.set_name("activation_alpha");
  alpha.set_type(6);
  alpha.add_floats(1);
}

}  // namespace

TEST_CASE("grid points that are no numbers, or beyond every index, are those at -1") {
  const auto nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (int64_t corners : {0, 1}) {
        INFO(mode << " " << padding << " " << corners);
        OnnxMaker m(20);
        m.input("x", {"1", "1", "2", "3"}).output("y");
        m.floats("grid", {1, 1, 6, 2}, {-1, 0.5F, nan, 0.5F, inf, 0.5F, -inf, 0.5F, 1e30F, 0.5F, -1e30F, 0.5F});
        proto::NodeProto& sample = m.node("GridSample", {"x", "grid"}, {"y"});
        addAttribute(sample, "mode", word(mode)), addAttribute(sample, "padding_mode", word(padding));
        addAttribute(sample, "align_corners", corners);
        const HostTensor y = run(m.import());
        for (int64_t i = 1; i < 6; ++i) CHECK(y.at(i) == y.at(0));
      }
}

TEST_CASE("recurrent layers: directions, clip, layout, lengths") {
  for (bool isBatchFirst : {false, true}) {
    OnnxMaker m = addingRnn(isBatchFirst);
    addRnn(m, {"x", "w", "r"}, {"y", "h"}, isBatchFirst);
    std::vector<int64_t> dims = isBatchFirst ? std::vector<int64_t>{1, 3, 2, 1} : std::vector<int64_t>{3, 2, 1, 1};
    CHECK(run(m.import()) == f32(dims, {0, 2.5, 1, 2.5, 2.5, 2}));
  }
  OnnxMaker m = addingRnn(false);
  m.ints("lengths", {1}, {2});
  addRnn(m, {"x", "w", "r", "", "lengths"}, {"y", "h"}, false);
  CHECK(run(m.import()) == f32({3, 2, 1, 1}, {0, 1, 1, 1, 0, 0}));
}

TEST_CASE("a loop with a known count is laid out, and collects") {
  OnnxMaker m;
  m.input("x", {"2"}).ints("count", {}, {3}).output("y");
  proto::NodeProto& loop = m.node("Loop", {"count", "", "x"}, {"last", "y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"on", "t", "u"});
  addNode(*body.mutable_node(), "Add", {"s", "x"}, {"t"});
  addNode(*body.mutable_node(), "Neg", {"t"}, {"u"});
  CHECK(sameValues(run(m.import()), f32({3, 2}, {0, -2, 0, -3, 0, -4}), true));
}

TEST_CASE("a loop ends where its values say so") {
  // for (i = 0; i < 10 && sum < 5; ++i) sum += x + 1
  OnnxMaker m;
  m.input("x", {"1"}).ints("count", {}, {10}).floats("five", {1}, {5}).floats("one", {1}, {1}).output("y");
  m.node("Less", {"x", "five"}, {"start"});
  proto::NodeProto& loop = m.node("Loop", {"count", "start", "x"}, {"y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"more", "t"});
  addNode(*body.mutable_node(), "Add", {"s", "one"}, {"t"});
  addNode(*body.mutable_node(), "Less", {"t", "five"}, {"more"});
  CHECK(run(m.import()) == f32({1}, {5}));
}

TEST_CASE("If with a condition of the run chooses between values") {
  OnnxMaker m;
  m.input("x", {"2"}).input("c", {}, kBool).output("y");
  proto::NodeProto& choice = m.node("If", {"c"}, {"y"});
  addNode(*addGraph(choice, "then_branch", {}, {"a"}).mutable_node(), "Neg", {"x"}, {"a"});
  addNode(*addGraph(choice, "else_branch", {}, {"b"}).mutable_node(), "Add", {"x", "x"}, {"b"});
  CHECK(run(m.import()) == f32({2}, {0, 2}));
}

TEST_CASE("attention rounds its weights to the type of its queries, not to that of its values") {
  for (const int narrow : {kF16, kBF16}) {
    OnnxMaker m(23);
    m.input("q", {"1", "1", "1", "1"}).floats("k", {1, 1, 3, 1}, {0, 0, 0});
    m.input("v", {"1", "1", "3", "1"}, narrow).output("y");
    m.node("Attention", {"q", "k", "v"}, {"y"});
    CHECK(run(m.import()) == f32({1, 1, 1, 1}, {1}));  // thirds of 0, 1 and 2; three of them in 16 bits are not 1
  }
}

TEST_CASE("a scan of opset 8 has a batch") {
  OnnxMaker m(8);
  m.input("x", {"2", "3", "1"}).floats("zero", {2, 1}, {0, 1}).output("y");
  proto::NodeProto& scan = m.node("Scan", {"", "zero", "x"}, {"last", "y"});
  addAttribute(scan, "num_scan_inputs", int64_t{1});
  proto::GraphProto& body = addGraph(scan, "body", {"s", "e"}, {"t", "u"});
  addNode(*body.mutable_node(), "Add", {"s", "e"}, {"t"});
  addNode(*body.mutable_node(), "Identity", {"t"}, {"u"});
  CHECK(run(m.import()) == f32({2, 3, 1}, {0, 1, 3, 4, 8, 13}));
}

TEST_CASE("axes of the run, with a declared result") {
  OnnxMaker sum(13);
  sum.input("x", {"2", "2"}).input("axes", {"1"}, kInt64).shapedOutput("y", {2});
  addAttribute(sum.node("ReduceSum", {"x", "axes"}, {"y"}), "keepdims", int64_t{0});
  CHECK(run(sum.import()) == f32({2}, {2, 4}));

  OnnxMaker running;
  running.input("x", {"2", "2"}).input("axis", {}, kInt64).output("y");
  running.node("CumSum", {"x", "axis"}, {"y"});
  CHECK(run(running.import()) == f32({2, 2}, {0, 1, 2, 4}));
}

TEST_CASE("amounts of the run, with a declared result") {
  OnnxMaker slice;
  slice.input("x", {"2", "4"}).input("starts", {"2"}, kInt64).ints("ends", {2}, {2, 4}).shapedOutput("y", {2, 3});
  slice.node("Slice", {"x", "starts", "ends"}, {"y"});
  CHECK(run(slice.import()) == f32({2, 3}, {1, 2, 3, 5, 6, 7}));

  OnnxMaker pad;
  pad.input("x", {"3"}).input("pads", {"2"}, kInt64).floats("fill", {}, {9}).shapedOutput("y", {4});
  pad.node("Pad", {"x", "pads", "fill"}, {"y"});
  CHECK(run(pad.import()) == f32({4}, {0, 1, 2, 9}));
}

TEST_CASE("rows of the table are well formed") {
  for (size_t i = 0; i < allOnnxOps().size(); ++i) {
    const OnnxOp& op = allOnnxOps()[i];
    INFO(op.name << " " << op.since);
    CHECK(op.since >= 1);
    CHECK(op.minInputs <= op.maxInputs);
    CHECK((op.lower != nullptr) == op.graphOp.empty());
    if (!op.graphOp.empty()) CHECK(findGraphOp(op.graphOp) != nullptr);
    CHECK(findOnnxOp(op.name, op.since) == &op);
    if (i > 0) CHECK((allOnnxOps()[i - 1].name != op.name || allOnnxOps()[i - 1].since < op.since));
  }
}
