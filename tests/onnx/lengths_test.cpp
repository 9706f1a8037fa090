// Values whose size only a run can tell. Every graph here works on what Compress leaves of its operands, and
// again on operands of just that size: the two must agree, for masks that keep nothing, something and
// everything.
#include "compressed.h"

using namespace svod;

namespace {

proto::NodeProto& one(OnnxMaker& m, const std::string& op, const OnnxMaker::Names& inputs) {
  return m.node(op, inputs, {"y"});
}

}  // namespace

TEST_CASE("lengths pass through elementwise ops, and equal ones meet") {
  for (std::string op : {"Relu", "Exp", "Neg", "Identity", "Sigmoid", "Floor"})
    checkLengths(op, [&](OnnxMaker& m) { one(m, op, {"v"}); });
  for (std::string op : {"Add", "Mul", "Sub", "Max", "Pow"}) {
    checkLengths(op, [&](OnnxMaker& m) { one(m, op, {"v", "w"}); });
    checkLengths(op + " with a row", [&](OnnxMaker& m) { m.floats("row", {3}, {1, 2, 3}), one(m, op, {"v", "row"}); });
  }
  checkLengths("Where", [](OnnxMaker& m) {
    m.node("Less", {"v", "w"}, {"c"});
    one(m, "Where", {"c", "v", "w"});
  });
  checkLengths("Clip", [](OnnxMaker& m) {
    m.floats("low", {}, {-1}).floats("high", {}, {1});
    one(m, "Clip", {"v", "low", "high"});
  });
  checkLengths("Cast", [](OnnxMaker& m) { addAttribute(one(m, "Cast", {"v"}), "to", int64_t{kInt64}); }, kInt64);
  checkLengths("outer sum", [](OnnxMaker& m) {
    m.ints("a", {1}, {1}).ints("b", {1}, {0});
    m.node("Unsqueeze", {"v", "a"}, {"p"}), m.node("Unsqueeze", {"u", "b"}, {"q"});
    one(m, "Add", {"p", "q"});
  });
}

TEST_CASE("reductions leave out what lies behind the length") {
  for (std::string op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceLogSumExp"})
    for (const std::vector<int64_t>& axes : {std::vector<int64_t>{0}, {1}, {0, 1}})
      checkLengths(op, [&](OnnxMaker& m) {
        m.ints("axes", {static_cast<int64_t>(axes.size())}, axes);
        addAttribute(one(m, op, {"v", "axes"}), "keepdims", int64_t{axes.size() == 1});
      });
  for (std::string op : {"ArgMax", "ArgMin"})
    for (int64_t axis : {0, 1})
      checkLengths(op, [&](OnnxMaker& m) { addAttribute(one(m, op, {"v"}), "axis", axis); }, kInt64, axis == 1);
  for (std::string op : {"Softmax", "LogSoftmax", "Hardmax"})
    for (int64_t axis : {0, 1}) checkLengths(op, [&](OnnxMaker& m) { addAttribute(one(m, op, {"v"}), "axis", axis); });
  for (int64_t flags = 0; flags < 4; ++flags)
    checkLengths("CumSum", [&](OnnxMaker& m) {
      m.ints("axis", {}, {0});
      proto::NodeProto& node = one(m, "CumSum", {"v", "axis"});
      addAttribute(node, "exclusive", flags & 1), addAttribute(node, "reverse", flags >> 1);
    });
  checkLengths("LayerNormalization", [](OnnxMaker& m) {
    m.floats("scale", {3}, {1, 2, 3}).floats("bias", {3}, {0, 1, 0});
    one(m, "LayerNormalization", {"v", "scale", "bias"});
  });
}

TEST_CASE("products of values with lengths") {
  auto transposed = [](OnnxMaker& m, const std::string& of) { m.node("Transpose", {of}, {of + ".t"}); };
  checkLengths("rows", [](OnnxMaker& m) {
    m.floats("f", {3, 2}, {1, 2, 3, 4, 5, 6});
    one(m, "MatMul", {"v", "f"});
  });
  checkLengths("inner", [&](OnnxMaker& m) { transposed(m, "v"), one(m, "MatMul", {"v.t", "w"}); });
  checkLengths("outer", [&](OnnxMaker& m) { transposed(m, "u"), one(m, "MatMul", {"v", "u.t"}); });
  checkLengths("Gemm", [](OnnxMaker& m) {
    m.floats("f", {2, 3}, {1, 2, 3, 4, 5, 6}).floats("c", {2}, {1, -1});
    addAttribute(one(m, "Gemm", {"v", "f", "c"}), "transB", int64_t{1});
  });
  checkLengths("Einsum",
               [](OnnxMaker& m) { addAttribute(one(m, "Einsum", {"v", "u"}), "equation", std::string("ik,jk->ji")); });
}

TEST_CASE("movement of values with lengths") {
  auto reshape = [](OnnxMaker& m, const std::string& x, const std::vector<int64_t>& shape) {
    m.ints("shape", {static_cast<int64_t>(shape.size())}, shape);
    one(m, "Reshape", {x, "shape"});
  };
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{-1}, {-1, 1, 3}, {3, -1}, {1, -1, 3, 1}})
    checkLengths("Reshape", [&](OnnxMaker& m) { reshape(m, "v", shape); });
  checkLengths(
      "Reshape to a length and what is left",
      [](OnnxMaker& m) {
        m.ints("zero", {1}, {0}).ints("rest", {2}, {-1, 3});
        m.node("Shape", {"v"}, {"s"}), m.node("Gather", {"s", "zero"}, {"k"});
        addAttribute(m.node("Concat", {"k", "rest"}, {"shape"}), "axis", int64_t{0});
        one(m, "Reshape", {"v", "shape"});
      },
      1, false);
  checkLengths("Reshape of the transposed", [&](OnnxMaker& m) {
    m.node("Transpose", {"v"}, {"t"});
    reshape(m, "t", {-1});
  });
  for (int64_t axis : {0, 1, 2})
    checkLengths("Flatten", [&](OnnxMaker& m) { addAttribute(one(m, "Flatten", {"v"}), "axis", axis); });
  for (int64_t axis : {0, 1})
    checkLengths("Concat", [&](OnnxMaker& m) {
      addAttribute(
          m.node("Concat", axis == 0 ? OnnxMaker::Names{"v", "six", "u", "w"} : OnnxMaker::Names{"v", "w"}, {"y"}),
          "axis", axis);
    });
  checkLengths("Split", [](OnnxMaker& m) {
    m.ints("sizes", {2}, {1, 2});
    addAttribute(m.node("Split", {"v", "sizes"}, {"other", "y"}), "axis", int64_t{1});
  });
  checkLengths("Split at a length", [](OnnxMaker& m) {
    m.node("Shape", {"v"}, {"s"}), m.ints("zero", {1}, {0}).ints("six.rows", {1}, {6});
    m.node("Gather", {"s", "zero"}, {"k"}), m.node("Sub", {"six.rows", "k"}, {"rest"});
    addAttribute(m.node("Concat", {"k", "rest"}, {"sizes"}), "axis", int64_t{0});
    addAttribute(m.node("Split", {"six", "sizes"}, {"first", "y"}), "axis", int64_t{0});
  });
  struct Slice {
    int64_t start, end, step;
  };
  for (Slice s : {Slice{0, 2, 1}, {1, 100, 1}, {-2, 100, 1}, {0, -1, 1}, {-1, -100, -1}, {0, 100, 2}})
    checkLengths("Slice", [&](OnnxMaker& m) {
      m.ints("b", {1}, {s.start}).ints("e", {1}, {s.end}).ints("a", {1}, {0}).ints("t", {1}, {s.step});
      one(m, "Slice", {"v", "b", "e", "a", "t"});
    });
  for (const std::vector<int64_t>& pads : {std::vector<int64_t>{1, 0, 2, 1}, {0, 0, 0, 2}, {2, 1, 0, 0}})
    checkLengths("Pad", [&](OnnxMaker& m) {
      m.ints("p", {4}, pads).floats("fill", {}, {9});
      one(m, "Pad", {"v", "p", "fill"});
    });
  checkLengths("Tile", [](OnnxMaker& m) { m.ints("r", {2}, {2, 3}), one(m, "Tile", {"v", "r"}); });
  checkLengths("Expand", [](OnnxMaker& m) {
    m.node("Shape", {"v"}, {"s"}).set_name("n"), m.floats("row", {1, 3}, {1, 2, 3});
    one(m, "Expand", {"row", "s"});
  });
}

TEST_CASE("sizes that follow from lengths") {
  checkLengths("Shape", [](OnnxMaker& m) { one(m, "Shape", {"v"}); }, kInt64);
  checkLengths("Size", [](OnnxMaker& m) { one(m, "Size", {"v"}); }, kInt64);
  checkLengths("ConstantOfShape",
               [](OnnxMaker& m) { m.node("Shape", {"v"}, {"s"}), one(m, "ConstantOfShape", {"s"}); });
  auto size = [](OnnxMaker& m) {
    m.ints("zero", {}, {0}).ints("one", {}, {1});
    m.node("Shape", {"v"}, {"s"}), m.node("Gather", {"s", "zero"}, {"k"});
  };
  checkLengths("Range", [&](OnnxMaker& m) { size(m), one(m, "Range", {"zero", "k", "one"}); }, kInt64);
  checkLengths("TopK of the shorter", [&](OnnxMaker& m) {
    size(m), m.ints("two", {}, {2}).ints("first", {1}, {0});
    m.node("Min", {"k", "two"}, {"least"}), m.node("Unsqueeze", {"least", "first"}, {"count"});
    addAttribute(m.node("TopK", {"v", "count"}, {"y", "i"}), "axis", int64_t{0});
  });
  checkLengths("OneHot", [](OnnxMaker& m) {
    m.ints("depth", {}, {6}).floats("onoff", {2}, {0, 1});
    one(m, "OneHot", {"at", "depth", "onoff"});
  });
}

TEST_CASE("indices and data with lengths") {
  checkLengths("Gather", [](OnnxMaker& m) { one(m, "Gather", {"six", "at"}); });
  checkLengths(
      "Gather of a length", [](OnnxMaker& m) { m.ints("i", {2}, {0, -1}), one(m, "Gather", {"v", "i"}); }, 1, false);
  checkLengths("GatherElements", [](OnnxMaker& m) {
    m.ints("a", {1}, {1}).ints("shape", {2}, {1, 3});
    m.node("Unsqueeze", {"at", "a"}, {"i"}), m.node("Expand", {"i", "shape"}, {"indices"});
    one(m, "GatherElements", {"six", "indices"});
  });
  checkLengths("GatherND", [](OnnxMaker& m) {
    m.ints("a", {1}, {1});
    m.node("Unsqueeze", {"at", "a"}, {"i"});
    one(m, "GatherND", {"six", "i"});
  });
  for (std::string reduction : {"none", "add", "max"}) {
    checkLengths("ScatterND", [&](OnnxMaker& m) {
      m.ints("a", {1}, {1});
      m.node("Unsqueeze", {"at", "a"}, {"i"});
      addAttribute(one(m, "ScatterND", {"six", "i", "v"}), "reduction", reduction);
    });
    checkLengths("ScatterElements", [&](OnnxMaker& m) {
      m.ints("a", {1}, {1}).ints("shape", {2}, {1, 3});
      m.node("Unsqueeze", {"at", "a"}, {"i"}), m.node("Expand", {"i", "shape"}, {"indices"});
      addAttribute(one(m, "ScatterElements", {"six", "indices", "v"}), "reduction", reduction);
    });
  }
  checkLengths("NonZero", [](OnnxMaker& m) { one(m, "NonZero", {"v"}); }, kInt64);
  checkLengths("Compress again", [](OnnxMaker& m) {
    m.floats("zero", {}, {0}).ints("column", {}, {0});
    addAttribute(m.node("Gather", {"v", "column"}, {"c"}), "axis", int64_t{1});
    m.node("Greater", {"c", "zero"}, {"isPositive"});
    addAttribute(one(m, "Compress", {"v", "isPositive"}), "axis", int64_t{0});
  });
  checkLengths(
      "Unique",
      [](OnnxMaker& m) {
        m.ints("three", {}, {3});
        addAttribute(m.node("Mod", {"at", "three"}, {"r"}), "fmod", int64_t{0});
        m.node("Unique", {"r"}, {"y"});
      },
      kInt64);
  checkLengths(
      "NonMaxSuppression",
      [](OnnxMaker& m) {
        m.ints("most", {1}, {4})
            .floats("iou", {1}, {0.3F})
            .floats("four", {3, 4}, {1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0.5F, 0.25F});
        m.ints("a", {1}, {0}).ints("b", {2}, {0, 1}).ints("column", {}, {0});
        m.node("MatMul", {"v", "four"}, {"flat"}), m.node("Unsqueeze", {"flat", "a"}, {"boxes"});
        addAttribute(m.node("Gather", {"v", "column"}, {"c"}), "axis", int64_t{1});
        m.node("Unsqueeze", {"c", "b"}, {"scores"});
        one(m, "NonMaxSuppression", {"boxes", "scores", "most", "iou"});
      },
      kInt64);
}
