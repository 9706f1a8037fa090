// Values whose size only a run can tell. Every graph here works on what Compress leaves of its operands, and
// again on operands of just that size: the two must agree, for masks that keep nothing, something and
// everything.
#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

#include "ir/verify.h"
#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int kInt64 = 7, kBool = 9;
constexpr int64_t kRows = 6, kColumns = 3;

using Masks = std::vector<std::vector<int>>;
const Masks kMasks = {
    {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, {0, 1, 0, 1, 1, 0}, {0, 0, 0, 0, 0, 1}, {1, 0, 1, 1, 0, 1}};

double valueAt(int64_t row, int64_t column) {
  return std::round(16 * std::sin(static_cast<double>(7 * row + 3 * column + 1))) / 8;
}

/// Adds nodes that make "y" of "v" [k, 3], "w" [k, 3] and "u" [j, 3]; "six" is [6, 3], "at" [k] are positions
/// in it.
using Nodes = std::function<void(OnnxMaker& m)>;

struct Run {
  std::vector<int64_t> dims;
  std::vector<double> values;
};

struct Input {
  std::string name;
  int mask;  // 0: v, w, at. 1: u. -1: whole
};
const std::vector<Input> kInputs = {{"v", 0}, {"w", 0}, {"at", 0}, {"u", 1}, {"six", -1}};

HostTensor inputValue(const std::string& name, DType dtype, std::vector<int64_t> rows) {
  bool isVector = name == "at" || name == "m0" || name == "m1";
  auto count = static_cast<int64_t>(rows.size());
  HostTensor t = HostTensor::zeros(dtype, isVector ? std::vector{count} : std::vector{count, kColumns});
  int64_t shift = name == "w" ? 50 : name == "u" ? 90 : 0;
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t row = rows[static_cast<size_t>(isVector ? i : i / kColumns)];
    double value = isVector ? static_cast<double>((row * 5 + 2) % kRows) : valueAt(row + shift, i % kColumns);
    t.set(i, Scalar::of(dtype, value));
  }
  return t;
}

/// The outputs y and, if there is one, y.length, of a run; inputs of a name are given.
std::optional<Run> computed(const OnnxImport& import, const std::function<HostTensor(const ModelPort&)>& give,
                            VariableValues variables = {}) {
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  Status isLegal = verify(import.model->sink, Stage::Tensor);
  if (!isLegal) UNSCOPED_INFO(toText(isLegal.error()));
  REQUIRE(isLegal);
  ModelBindings bindings;
  bindings.variables = std::move(variables);
  for (const ModelPort& port : import.model->ports) {
    bindings.ports.emplace_back();
    if (port.kind == PortKind::Input) bindings.ports.back() = give(port);
  }
  Result<std::vector<HostTensor>> ports = interpret(*import.model, bindings);
  if (!ports) UNSCOPED_INFO(toText(ports.error()));
  if (!ports) return std::nullopt;
  HostTensor y, length;
  for (size_t i = 0; i < ports->size(); ++i) {
    if (import.model->ports[i].name == "y") y = (*ports)[i];
    if (import.model->ports[i].name == "y.length") length = (*ports)[i];
  }
  Run run{y.dims, {}};
  if (length.dtype != DType::Void)
    for (size_t i = 0; i < run.dims.size(); ++i) run.dims[i] = length.at(static_cast<int64_t>(i)).asInt();
  std::vector<int64_t> at(run.dims.size());
  for (int64_t n = numelOf(run.dims); n-- > 0;) {
    int64_t flat = 0;
    for (size_t i = 0; i < at.size(); ++i) flat = flat * y.dims[i] + at[i];
    Scalar s = y.at(flat);
    run.values.push_back(isFloat(s.dtype()) ? s.asFloat() : static_cast<double>(s.asInt()));
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == run.dims[axis];) at[axis] = 0;
  }
  return run;
}

std::vector<int64_t> rowsOf(const Input& input, const std::vector<int>& first, const std::vector<int>& second) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < kRows; ++i)
    if (input.mask < 0 || (input.mask == 0 ? first : second)[static_cast<size_t>(i)] != 0) rows.push_back(i);
  return rows;
}

OnnxMaker compressed(const Nodes& nodes, int opset) {
  OnnxMaker m(opset);
  for (const char* mask : {"m0", "m1"}) m.input(mask, {std::to_string(kRows)}, kBool);
  for (const Input& i : kInputs) {
    OnnxMaker::Names dims = i.name == "at" ? OnnxMaker::Names{"6"} : OnnxMaker::Names{"6", "3"};
    m.input(i.mask < 0 ? i.name : "all." + i.name, dims, i.name == "at" ? kInt64 : 1);
    if (i.mask < 0) continue;
    addAttribute(m.node("Compress", {"all." + i.name, i.mask == 0 ? "m0" : "m1"}, {i.name}), "axis", int64_t{0});
  }
  nodes(m);
  return m;
}

void check(const std::string& what, const Nodes& nodes, int type = 1, bool takesNone = true, int opset = 18) {
  INFO(what);
  OnnxMaker m = compressed([&](OnnxMaker& made) { nodes(made), made.output("y", type); }, opset);
  OnnxImport import = m.import();
  for (size_t k = takesNone ? 0 : 1; k < kMasks.size(); ++k) {
    const std::vector<int>&first = kMasks[k], &second = kMasks[(k * 2 + 1) % kMasks.size()];
    INFO("mask " << k);
    std::optional<Run> got = computed(import, [&](const ModelPort& port) {
      if (port.name == "m0" || port.name == "m1") {
        HostTensor t = HostTensor::zeros(DType::Bool, {kRows});
        for (int64_t i = 0; i < kRows; ++i)
          t.set(i, Scalar::ofInt(DType::Bool, (port.name == "m0" ? first : second)[static_cast<size_t>(i)]));
        return t;
      }
      std::string name = port.name.starts_with("all.") ? port.name.substr(4) : port.name;
      return inputValue(name, port.buffer.dtype(), rowsOf({name, -1}, first, second));
    });
    OnnxMaker exact(opset);
    for (const Input& i : kInputs) {
      std::string rows = std::to_string(rowsOf(i, first, second).size());
      bool isVector = i.name == "at";
      exact.input(i.name, isVector ? OnnxMaker::Names{rows} : OnnxMaker::Names{rows, "3"}, isVector ? kInt64 : 1);
    }
    nodes(exact);
    exact.output("y", type);
    std::optional<Run> want = computed(exact.import(), [&](const ModelPort& port) {
      auto input = std::ranges::find(kInputs, port.name, &Input::name);
      return inputValue(port.name, port.buffer.dtype(), rowsOf(*input, first, second));
    });
    REQUIRE(want);
    REQUIRE(got);
    REQUIRE(got->dims == want->dims);
    for (size_t i = 0; i < want->values.size(); ++i) {
      double a = got->values[i], b = want->values[i];
      INFO("element " << i);
      CHECK((std::abs(a - b) <= 1e-5 * (1 + std::abs(b)) || a == b || (std::isnan(a) && std::isnan(b))));
    }
  }
  Result<WrittenModel> written = m.convert();
  INFO((written ? "" : toText(written.error())));
  CHECK(written);
}

proto::NodeProto& one(OnnxMaker& m, const std::string& op, const OnnxMaker::Names& inputs) {
  return m.node(op, inputs, {"y"});
}

}  // namespace

TEST_CASE("lengths pass through elementwise ops, and equal ones meet") {
  for (std::string op : {"Relu", "Exp", "Neg", "Identity", "Sigmoid", "Floor"})
    check(op, [&](OnnxMaker& m) { one(m, op, {"v"}); });
  for (std::string op : {"Add", "Mul", "Sub", "Max", "Pow"}) {
    check(op, [&](OnnxMaker& m) { one(m, op, {"v", "w"}); });
    check(op + " with a row", [&](OnnxMaker& m) { m.floats("row", {3}, {1, 2, 3}), one(m, op, {"v", "row"}); });
  }
  check("Where", [](OnnxMaker& m) {
    m.node("Less", {"v", "w"}, {"c"});
    one(m, "Where", {"c", "v", "w"});
  });
  check("Clip", [](OnnxMaker& m) {
    m.floats("low", {}, {-1}).floats("high", {}, {1});
    one(m, "Clip", {"v", "low", "high"});
  });
  check("Cast", [](OnnxMaker& m) { addAttribute(one(m, "Cast", {"v"}), "to", int64_t{kInt64}); }, kInt64);
  check("outer sum", [](OnnxMaker& m) {
    m.ints("a", {1}, {1}).ints("b", {1}, {0});
    m.node("Unsqueeze", {"v", "a"}, {"p"}), m.node("Unsqueeze", {"u", "b"}, {"q"});
    one(m, "Add", {"p", "q"});
  });
}

TEST_CASE("reductions leave out what lies behind the length") {
  for (std::string op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceLogSumExp"})
    for (const std::vector<int64_t>& axes : {std::vector<int64_t>{0}, {1}, {0, 1}})
      check(op, [&](OnnxMaker& m) {
        m.ints("axes", {static_cast<int64_t>(axes.size())}, axes);
        addAttribute(one(m, op, {"v", "axes"}), "keepdims", int64_t{axes.size() == 1});
      });
  for (std::string op : {"ArgMax", "ArgMin"})
    for (int64_t axis : {0, 1})
      check(op, [&](OnnxMaker& m) { addAttribute(one(m, op, {"v"}), "axis", axis); }, kInt64, axis == 1);
  for (std::string op : {"Softmax", "LogSoftmax", "Hardmax"})
    for (int64_t axis : {0, 1}) check(op, [&](OnnxMaker& m) { addAttribute(one(m, op, {"v"}), "axis", axis); });
  for (int64_t flags = 0; flags < 4; ++flags)
    check("CumSum", [&](OnnxMaker& m) {
      m.ints("axis", {}, {0});
      proto::NodeProto& node = one(m, "CumSum", {"v", "axis"});
      addAttribute(node, "exclusive", flags & 1), addAttribute(node, "reverse", flags >> 1);
    });
  check("LayerNormalization", [](OnnxMaker& m) {
    m.floats("scale", {3}, {1, 2, 3}).floats("bias", {3}, {0, 1, 0});
    one(m, "LayerNormalization", {"v", "scale", "bias"});
  });
}

TEST_CASE("products of values with lengths") {
  auto transposed = [](OnnxMaker& m, const std::string& of) { m.node("Transpose", {of}, {of + ".t"}); };
  check("rows", [](OnnxMaker& m) {
    m.floats("f", {3, 2}, {1, 2, 3, 4, 5, 6});
    one(m, "MatMul", {"v", "f"});
  });
  check("inner", [&](OnnxMaker& m) { transposed(m, "v"), one(m, "MatMul", {"v.t", "w"}); });
  check("outer", [&](OnnxMaker& m) { transposed(m, "u"), one(m, "MatMul", {"v", "u.t"}); });
  check("Gemm", [](OnnxMaker& m) {
    m.floats("f", {2, 3}, {1, 2, 3, 4, 5, 6}).floats("c", {2}, {1, -1});
    addAttribute(one(m, "Gemm", {"v", "f", "c"}), "transB", int64_t{1});
  });
  check("Einsum",
        [](OnnxMaker& m) { addAttribute(one(m, "Einsum", {"v", "u"}), "equation", std::string("ik,jk->ji")); });
}

TEST_CASE("movement of values with lengths") {
  auto reshape = [](OnnxMaker& m, const std::string& x, const std::vector<int64_t>& shape) {
    m.ints("shape", {static_cast<int64_t>(shape.size())}, shape);
    one(m, "Reshape", {x, "shape"});
  };
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{-1}, {-1, 1, 3}, {3, -1}, {1, -1, 3, 1}})
    check("Reshape", [&](OnnxMaker& m) { reshape(m, "v", shape); });
  check(
      "Reshape to a length and what is left",
      [](OnnxMaker& m) {
        m.ints("zero", {1}, {0}).ints("rest", {2}, {-1, 3});
        m.node("Shape", {"v"}, {"s"}), m.node("Gather", {"s", "zero"}, {"k"});
        addAttribute(m.node("Concat", {"k", "rest"}, {"shape"}), "axis", int64_t{0});
        one(m, "Reshape", {"v", "shape"});
      },
      1, false);
  check("Reshape of the transposed", [&](OnnxMaker& m) {
    m.node("Transpose", {"v"}, {"t"});
    reshape(m, "t", {-1});
  });
  for (int64_t axis : {0, 1, 2})
    check("Flatten", [&](OnnxMaker& m) { addAttribute(one(m, "Flatten", {"v"}), "axis", axis); });
  for (int64_t axis : {0, 1})
    check("Concat", [&](OnnxMaker& m) {
      addAttribute(
          m.node("Concat", axis == 0 ? OnnxMaker::Names{"v", "six", "u", "w"} : OnnxMaker::Names{"v", "w"}, {"y"}),
          "axis", axis);
    });
  check("Split", [](OnnxMaker& m) {
    m.ints("sizes", {2}, {1, 2});
    addAttribute(m.node("Split", {"v", "sizes"}, {"other", "y"}), "axis", int64_t{1});
  });
  check("Split at a length", [](OnnxMaker& m) {
    m.node("Shape", {"v"}, {"s"}), m.ints("zero", {1}, {0}).ints("six.rows", {1}, {6});
    m.node("Gather", {"s", "zero"}, {"k"}), m.node("Sub", {"six.rows", "k"}, {"rest"});
    addAttribute(m.node("Concat", {"k", "rest"}, {"sizes"}), "axis", int64_t{0});
    addAttribute(m.node("Split", {"six", "sizes"}, {"first", "y"}), "axis", int64_t{0});
  });
  struct Slice {
    int64_t start, end, step;
  };
  for (Slice s : {Slice{0, 2, 1}, {1, 100, 1}, {-2, 100, 1}, {0, -1, 1}, {-1, -100, -1}, {0, 100, 2}})
    check("Slice", [&](OnnxMaker& m) {
      m.ints("b", {1}, {s.start}).ints("e", {1}, {s.end}).ints("a", {1}, {0}).ints("t", {1}, {s.step});
      one(m, "Slice", {"v", "b", "e", "a", "t"});
    });
  for (const std::vector<int64_t>& pads : {std::vector<int64_t>{1, 0, 2, 1}, {0, 0, 0, 2}, {2, 1, 0, 0}})
    check("Pad", [&](OnnxMaker& m) {
      m.ints("p", {4}, pads).floats("fill", {}, {9});
      one(m, "Pad", {"v", "p", "fill"});
    });
  check("Tile", [](OnnxMaker& m) { m.ints("r", {2}, {2, 3}), one(m, "Tile", {"v", "r"}); });
  check("Expand", [](OnnxMaker& m) {
    m.node("Shape", {"v"}, {"s"}).set_name("n"), m.floats("row", {1, 3}, {1, 2, 3});
    one(m, "Expand", {"row", "s"});
  });
}

TEST_CASE("sizes that follow from lengths") {
  check("Shape", [](OnnxMaker& m) { one(m, "Shape", {"v"}); }, kInt64);
  check("Size", [](OnnxMaker& m) { one(m, "Size", {"v"}); }, kInt64);
  check("ConstantOfShape", [](OnnxMaker& m) { m.node("Shape", {"v"}, {"s"}), one(m, "ConstantOfShape", {"s"}); });
  auto size = [](OnnxMaker& m) {
    m.ints("zero", {}, {0}).ints("one", {}, {1});
    m.node("Shape", {"v"}, {"s"}), m.node("Gather", {"s", "zero"}, {"k"});
  };
  check("Range", [&](OnnxMaker& m) { size(m), one(m, "Range", {"zero", "k", "one"}); }, kInt64);
  check("TopK of the shorter", [&](OnnxMaker& m) {
    size(m), m.ints("two", {}, {2}).ints("first", {1}, {0});
    m.node("Min", {"k", "two"}, {"least"}), m.node("Unsqueeze", {"least", "first"}, {"count"});
    addAttribute(m.node("TopK", {"v", "count"}, {"y", "i"}), "axis", int64_t{0});
  });
  check("OneHot", [](OnnxMaker& m) {
    m.ints("depth", {}, {6}).floats("onoff", {2}, {0, 1});
    one(m, "OneHot", {"at", "depth", "onoff"});
  });
}

TEST_CASE("indices and data with lengths") {
  check("Gather", [](OnnxMaker& m) { one(m, "Gather", {"six", "at"}); });
  check("Gather of a length", [](OnnxMaker& m) { m.ints("i", {2}, {0, -1}), one(m, "Gather", {"v", "i"}); }, 1, false);
  check("GatherElements", [](OnnxMaker& m) {
    m.ints("a", {1}, {1}).ints("shape", {2}, {1, 3});
    m.node("Unsqueeze", {"at", "a"}, {"i"}), m.node("Expand", {"i", "shape"}, {"indices"});
    one(m, "GatherElements", {"six", "indices"});
  });
  check("GatherND", [](OnnxMaker& m) {
    m.ints("a", {1}, {1});
    m.node("Unsqueeze", {"at", "a"}, {"i"});
    one(m, "GatherND", {"six", "i"});
  });
  for (std::string reduction : {"none", "add", "max"}) {
    check("ScatterND", [&](OnnxMaker& m) {
      m.ints("a", {1}, {1});
      m.node("Unsqueeze", {"at", "a"}, {"i"});
      addAttribute(one(m, "ScatterND", {"six", "i", "v"}), "reduction", reduction);
    });
    check("ScatterElements", [&](OnnxMaker& m) {
      m.ints("a", {1}, {1}).ints("shape", {2}, {1, 3});
      m.node("Unsqueeze", {"at", "a"}, {"i"}), m.node("Expand", {"i", "shape"}, {"indices"});
      addAttribute(one(m, "ScatterElements", {"six", "indices", "v"}), "reduction", reduction);
    });
  }
  check("NonZero", [](OnnxMaker& m) { one(m, "NonZero", {"v"}); }, kInt64);
  check("Compress again", [](OnnxMaker& m) {
    m.floats("zero", {}, {0}).ints("column", {}, {0});
    addAttribute(m.node("Gather", {"v", "column"}, {"c"}), "axis", int64_t{1});
    m.node("Greater", {"c", "zero"}, {"isPositive"});
    addAttribute(one(m, "Compress", {"v", "isPositive"}), "axis", int64_t{0});
  });
  check(
      "Unique",
      [](OnnxMaker& m) {
        m.ints("three", {}, {3});
        addAttribute(m.node("Mod", {"at", "three"}, {"r"}), "fmod", int64_t{0});
        m.node("Unique", {"r"}, {"y"});
      },
      kInt64);
  check(
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

TEST_CASE("control flow by lengths") {
  auto size = [](OnnxMaker& m) {
    m.ints("zero", {}, {0});
    m.node("Shape", {"v"}, {"s"}), m.node("Gather", {"s", "zero"}, {"k"});
  };
  check("If", [&](OnnxMaker& m) {
    size(m), m.ints("two", {}, {2});
    m.node("Greater", {"k", "two"}, {"isLong"});
    proto::NodeProto& branch = m.node("If", {"isLong"}, {"y"});
    proto::GraphProto& a = addGraph(branch, "then_branch", {}, {"long"});
    addNode(*a.mutable_node(), "Exp", {"v"}, {"long"});
    proto::GraphProto& b = addGraph(branch, "else_branch", {}, {"short"});
    addNode(*b.mutable_node(), "Neg", {"u"}, {"short"});
  });
  check("Loop", [&](OnnxMaker& m) {
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
      check(what, [&](OnnxMaker& m) { grow(m, false); });
      check(what + ", sizes of the run", [&](OnnxMaker& m) { grow(m, true); });
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

namespace {

constexpr int64_t kMostBounded = 7;

/// Adds nodes that make "y" of "x" [6, 3] and "c" [2], which a run computes of "k" [2] between `least` and 7.
OnnxMaker bounded(const Nodes& nodes, int type, int64_t least, std::optional<std::vector<int64_t>> k) {
  OnnxMaker m(18);
  m.input("x", {"6", "3"}).ints("least", {}, {least}).ints("most", {}, {kMostBounded});
  if (k)
    m.ints("k", {2}, *k);
  else
    m.input("k", {"2"}, kInt64);
  m.node("Clip", {"k", "least", "most"}, {"c"});
  nodes(m);
  m.output("y", type);
  return m;
}

HostTensor boundedInput(const ModelPort& port, const std::vector<int64_t>& k) {
  if (port.name == "x") return inputValue("x", DType::F32, {0, 1, 2, 3, 4, 5});
  HostTensor t = HostTensor::zeros(DType::I64, {2});
  for (size_t i = 0; i < 2; ++i) t.set(static_cast<int64_t>(i), Scalar::ofInt(DType::I64, k[i]));
  return t;
}

// The sizes are known when the second model is made.
void checkBounded(const std::string& what, const Nodes& nodes, int type = 1, int64_t least = 0) {
  INFO(what);
  OnnxImport import = bounded(nodes, type, least, {}).import();
  for (int64_t a : {-3, 0, 1, 3, 6, 7, 12})
    for (int64_t c : {0, 2, 5, 9}) {
      INFO("k = " << a << ", " << c);
      auto give = [&](const ModelPort& port) { return boundedInput(port, {a, c}); };
      std::optional<Run> want = computed(bounded(nodes, type, least, {{a, c}}).import(), give);
      std::optional<Run> got = computed(import, give);
      REQUIRE(want);
      REQUIRE(got);
      REQUIRE(got->dims == want->dims);
      for (size_t i = 0; i < want->values.size(); ++i) {
        INFO("element " << i);
        CHECK(std::abs(got->values[i] - want->values[i]) <= 1e-5 * (1 + std::abs(want->values[i])));
      }
    }
}

void addResize(OnnxMaker& m, const std::string& mode, const std::string& coordinates) {
  proto::NodeProto& resize = m.node("Resize", {"x", "", "", "c"}, {"y"});
  addAttribute(resize, "mode", mode), addAttribute(resize, "coordinate_transformation_mode", coordinates);
}

}  // namespace

TEST_CASE("values that something bounds are sizes") {
  checkBounded("ConstantOfShape", [](OnnxMaker& m) { m.node("ConstantOfShape", {"c"}, {"y"}); });
  checkBounded("Tile", [](OnnxMaker& m) { m.node("Tile", {"x", "c"}, {"y"}); });
  auto first = [](OnnxMaker& m) {
    m.ints("zero", {}, {0}).ints("one", {}, {1}).ints("two", {}, {2}), m.node("Gather", {"c", "zero"}, {"size"});
  };
  checkBounded("Range", [&](OnnxMaker& m) { first(m), m.node("Range", {"zero", "size", "one"}, {"y"}); }, kInt64);
  checkBounded(
      "Range from it", [&](OnnxMaker& m) { first(m), m.node("Range", {"size", "two", "one"}, {"y"}); }, kInt64);
  checkBounded("Range by 2", [&](OnnxMaker& m) { first(m), m.node("Range", {"one", "size", "two"}, {"y"}); }, kInt64);
  for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})
    for (const char* mode : {"linear", "nearest", "cubic"})
      checkBounded(
          std::string("Resize ") + mode + " " + coordinates, [&](OnnxMaker& m) { addResize(m, mode, coordinates); }, 1,
          1);
}

TEST_CASE("bounds of sizes follow through floats and single elements of vectors") {
  checkBounded("floats", [](OnnxMaker& m) {
    m.floats("scale", {}, {1.7F}).floats("third", {}, {3}).ints("row", {1}, {1}).ints("at", {1}, {0});
    addAttribute(m.node("Cast", {"c"}, {"f"}), "to", int64_t{1});
    m.node("Mul", {"f", "scale"}, {"g"}), m.node("Div", {"g", "third"}, {"h"}), m.node("Floor", {"h"}, {"i"});
    addAttribute(m.node("Cast", {"i"}, {"j"}), "to", int64_t{kInt64});
    m.node("ConstantOfShape", {"j"}, {"y"});
  });
  // As exporters paste a mask into an image: each element has bounds of its own.
  checkBounded("largest of a vector", [](OnnxMaker& m) {
    m.ints("start", {1}, {0}).ints("end", {1}, {1}).ints("five", {1}, {5}).ints("one", {1}, {1}).ints("axis", {1}, {0});
    m.node("Slice", {"c", "start", "end"}, {"a"}), m.node("Sub", {"a", "five"}, {"b"});
    addAttribute(m.node("Concat", {"b", "one"}, {"pair"}), "axis", int64_t{0});
    m.node("ReduceMax", {"pair", "axis"}, {"h"});
    addAttribute(m.node("Concat", {"h", "five"}, {"shape"}), "axis", int64_t{0});
    m.node("Resize", {"x", "", "", "shape"}, {"y"});
  });
}

TEST_CASE("bounds follow through one element of a shape with other ones that only a run knows") {
  checkBounded(
      "Div",
      [](OnnxMaker& m) {
        m.ints("zero", {}, {0})
            .ints("one", {}, {1})
            .ints("second", {}, {1})
            .ints("behind", {1}, {3})
            .ints("first", {1}, {0});
        m.node("Slice", {"c", "first", "first1"}, {"rows"});
        addAttribute(m.node("Concat", {"rows", "behind"}, {"dims"}), "axis", int64_t{0});
        m.ints("first1", {1}, {1}), m.node("ConstantOfShape", {"dims"}, {"grid"});
        m.node("Shape", {"grid"}, {"s"}), m.node("Gather", {"s", "second"}, {"three"});
        addAttribute(m.node("Cast", {"three"}, {"f"}), "to", int64_t{1});
        m.node("Gather", {"c", "zero"}, {"a"}), addAttribute(m.node("Cast", {"a"}, {"g"}), "to", int64_t{1});
        m.node("Div", {"g", "f"}, {"h"}), addAttribute(m.node("Cast", {"h"}, {"size"}), "to", int64_t{kInt64});
        m.node("Range", {"zero", "size", "one"}, {"y"});
      },
      kInt64);
}

TEST_CASE("a length is never below what it counts, and a minimum never above what it chooses from") {
  checkBounded("Floor", [](OnnxMaker& m) {
    m.ints("first", {1}, {0}).ints("behind", {1}, {1}).floats("more", {1}, {1.5F}).floats("twelve", {1}, {12});
    m.node("Slice", {"c", "first", "behind"}, {"a"}), addAttribute(m.node("Cast", {"a"}, {"f"}), "to", int64_t{1});
    m.node("Add", {"f", "more"}, {"g"}), m.node("Floor", {"g"}, {"whole"});
    addAttribute(m.node("Cast", {"whole"}, {"rows"}), "to", int64_t{kInt64});
    m.node("ConstantOfShape", {"rows"}, {"grid"}), m.node("Shape", {"grid"}, {"s"});
    addAttribute(m.node("Cast", {"s"}, {"divisor"}), "to", int64_t{1});
    m.node("Div", {"twelve", "divisor"}, {"h"}), addAttribute(m.node("Cast", {"h"}, {"shape"}), "to", int64_t{kInt64});
    m.node("ConstantOfShape", {"shape"}, {"y"});
  });
  checkBounded(
      "Loop",
      [](OnnxMaker& m) {
        m.ints("steps", {}, {20}).ints("zero", {}, {0}).ints("axis", {1}, {0});
        m.node("Gather", {"c", "zero"}, {"room"});
        proto::NodeProto& loop = m.node("Loop", {"steps", ""}, {"y"});
        proto::GraphProto& body = addGraph(loop, "body", {"i", "cond"}, {"again", "z"});
        auto& nodes = *body.mutable_node();
        addNode(nodes, "Identity", {"cond"}, {"again"}), addNode(nodes, "Min", {"i", "room"}, {"used"});
        addNode(nodes, "Sub", {"room", "used"}, {"left"}), addNode(nodes, "Unsqueeze", {"left", "axis"}, {"shape"});
        addNode(nodes, "ConstantOfShape", {"shape"}, {"row"}), addNode(nodes, "Shape", {"row"}, {"size"});
        addNode(nodes, "ReduceSum", {"size"}, {"z"});
      },
      kInt64);
}

TEST_CASE("a quotient by what may underflow to 0 bounds no size") {
  OnnxMaker m(18);
  m.input("k", {"1"}, kInt64).ints("least", {}, {0}).ints("most", {}, {kMostBounded}).floats("tiny", {}, {1e-30F});
  m.node("Clip", {"k", "least", "most"}, {"c"}), m.output("y");
  addAttribute(m.node("Cast", {"c"}, {"f"}), "to", int64_t{1});
  m.node("Mul", {"f", "tiny"}, {"g"}), m.node("Add", {"g", "tiny"}, {"h"}), m.node("Mul", {"h", "h"}, {"square"});
  m.node("Div", {"h", "square"}, {"i"}), m.node("Mul", {"i", "tiny"}, {"j"});
  addAttribute(m.node("Cast", {"j"}, {"size"}), "to", int64_t{kInt64});
  m.node("ConstantOfShape", {"size"}, {"y"});
  CHECK_FALSE(m.import().model);
}

TEST_CASE("a resize in a loop has a size of its own in every step") {
  checkBounded("Loop", [](OnnxMaker& m) {
    m.ints("steps", {}, {20}).ints("seven", {}, {7}).ints("one", {}, {1});
    proto::NodeProto& loop = m.node("Loop", {"steps", ""}, {"y"});
    proto::GraphProto& body = addGraph(loop, "body", {"i", "cond"}, {"again", "z"});
    auto& nodes = *body.mutable_node();
    addNode(nodes, "Identity", {"cond"}, {"again"}), addNode(nodes, "Add", {"c", "i"}, {"more"});
    addNode(nodes, "Mod", {"more", "seven"}, {"rest"}), addNode(nodes, "Max", {"rest", "one"}, {"size"});
    addNode(nodes, "Resize", {"x", "", "", "size"}, {"resized"});
    addAttribute(nodes[nodes.size() - 1], "mode", std::string("linear"));
    addNode(nodes, "ReduceSum", {"resized"}, {"z"});
  });
}

TEST_CASE("a size that is bounded from above only is compared with 0 by every run") {
  OnnxMaker m(18);
  m.input("x", {"6", "3"}).input("k", {"2"}, kInt64).ints("most", {}, {kMostBounded});
  m.node("Min", {"k", "most"}, {"c"}), m.node("ConstantOfShape", {"c"}, {"y"}), m.output("y");
  OnnxImport import = m.import();
  auto run = [&](int64_t a) { return computed(import, [&](const ModelPort& p) { return boundedInput(p, {a, 2}); }); };
  CHECK(run(5)->dims == std::vector<int64_t>{5, 2});
  CHECK(run(0)->dims == std::vector<int64_t>{0, 2});
  CHECK_FALSE(run(-1));
}
