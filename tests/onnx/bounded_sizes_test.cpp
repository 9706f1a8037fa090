// Sizes that a run computes and that something bounds: ops work on room for the largest, and give what they give where
// the sizes are known when the model is made.
#include <cmath>

#include "compressed.h"

using namespace svod;

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

bool saysOf(const OnnxImport& import, const std::string& what) {
  std::string all;
  for (const Error& note : import.notes) all += toText(note) + "\n";
  UNSCOPED_INFO(all);
  return all.find(what) != std::string::npos;
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

TEST_CASE("values that something bounds are sizes of movement") {
  checkBounded("Expand", [](OnnxMaker& m) {
    m.ints("rest", {2}, {6, 1}), addAttribute(m.node("Concat", {"c", "rest"}, {"shape"}), "axis", int64_t{0});
    m.node("Expand", {"x", "shape"}, {"y"});
  });
  checkBounded(
      "Reshape",
      [](OnnxMaker& m) {
        m.ints("order", {2}, {1, 0}).floats("one", {}, {1}), m.node("ConstantOfShape", {"c"}, {"grid"});
        m.node("Add", {"grid", "one"}, {"ones"});
        addAttribute(m.node("CumSum", {"ones", "zero"}, {"counted"}), "exclusive", int64_t{1}), m.ints("zero", {}, {0});
        m.node("Gather", {"c", "order"}, {"shape"}), m.node("Reshape", {"counted", "shape"}, {"y"});
      },
      1, 1);
  checkBounded("Split", [](OnnxMaker& m) {
    m.ints("first", {1}, {0}).ints("six", {1}, {6}), m.node("Gather", {"c", "first"}, {"wanted"});
    m.node("Min", {"wanted", "six"}, {"above"}), m.node("Sub", {"six", "above"}, {"below"});
    addAttribute(m.node("Concat", {"above", "below"}, {"parts"}), "axis", int64_t{0});
    m.node("Split", {"x", "parts"}, {"a", "b"}), m.node("Neg", {"a"}, {"negated"});
    addAttribute(m.node("Concat", {"b", "negated"}, {"y"}), "axis", int64_t{0});
  });
  for (const char* mode : {"constant", "edge", "wrap"})
    checkBounded(std::string("Pad ") + mode, [&](OnnxMaker& m) {
      m.ints("one", {1}, {1}).ints("first", {1}, {0}), m.node("Gather", {"c", "first"}, {"rows"});
      addAttribute(m.node("Concat", {"c", "rows", "one"}, {"pads"}), "axis", int64_t{0});
      addAttribute(m.node("Pad", {"x", "pads"}, {"y"}), "mode", std::string(mode));
    });
  checkBounded("CenterCropPad", [](OnnxMaker& m) { m.node("CenterCropPad", {"x", "c"}, {"y"}); });
  checkBounded(
      "Pad that may cut",
      [](OnnxMaker& m) {
        m.ints("three", {}, {3}).ints("two", {2}, {2, 2}), m.node("Sub", {"c", "three"}, {"signed"});
        addAttribute(m.node("Concat", {"signed", "two"}, {"pads"}), "axis", int64_t{0});
        m.node("Pad", {"x", "pads"}, {"y"});
      },
      1, 1);
}

TEST_CASE("a loop collects as many values as a size of a run says") {
  for (bool grows : {false, true})
    checkBounded(grows ? "put behind a value" : "as a result", [&](OnnxMaker& m) {
      m.ints("zero", {}, {0}), m.node("Gather", {"c", "zero"}, {"steps"});
      proto::NodeProto& loop =
          m.node("Loop", {"steps", "", "x"}, grows ? OnnxMaker::Names{"y"} : OnnxMaker::Names{"last", "y"});
      proto::GraphProto& body = addGraph(loop, "body", {"i", "cond", "all"}, {"again", "next", "kept"});
      auto& nodes = *body.mutable_node();
      addNode(nodes, "Identity", {"cond"}, {"again"}),
          addNode(nodes, grows ? "Identity" : "Neg", {grows ? "x" : "all"}, {"kept"});
      addNode(nodes, grows ? "Concat" : "Cos", grows ? OnnxMaker::Names{"all", "x"} : OnnxMaker::Names{"all"},
              {"next"});
      if (grows) addAttribute(nodes[nodes.size() - 1], "axis", int64_t{0});
    });
}

TEST_CASE("sizes that no bounds of variables keep above 0 are compared by every run") {
  OnnxMaker m(18);
  m.input("x", {"4"}).ints("start", {1}, {1}).ints("one", {1}, {1}).output("y", kInt64).output("z").output("w", kInt64);
  m.node("NonZero", {"x"}, {"places"}), m.node("Shape", {"places"}, {"s"});
  m.node("Slice", {"s", "start", "two"}, {"count"}), m.ints("two", {1}, {2}).ints("none", {3}, {0, 0, 0});
  m.node("Sub", {"count", "one"}, {"rest"});
  addAttribute(m.node("Concat", {"rest", "one"}, {"parts"}), "axis", int64_t{0});
  addAttribute(m.node("Split", {"places", "parts"}, {"y", "last"}), "axis", int64_t{1});
  m.node("ConstantOfShape", {"rest"}, {"z"});
  m.ints("minus", {1}, {-1});
  addAttribute(m.node("Concat", {"none", "minus"}, {"pads"}), "axis", int64_t{0}),
      m.node("Pad", {"places", "pads"}, {"w"});
  const OnnxImport import = m.import();
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  for (int64_t count : {0, 1, 3}) {
    INFO(count);
    std::vector<int64_t> ones(static_cast<size_t>(count), 1);
    ones.resize(4, 0);
    const auto run = computed(import, [&](const ModelPort&) {
      HostTensor x = HostTensor::zeros(DType::F32, {4});
      for (size_t i = 0; i < ones.size(); ++i) x.set(static_cast<int64_t>(i), Scalar::of(DType::F32, ones[i]));
      return x;
    });
    REQUIRE(run.has_value() == (count > 0));
    if (run) CHECK(run->dims == std::vector<int64_t>{1, count - 1});
  }
}

TEST_CASE("an Expand by a size of a run keeps an axis, where it is 1 or the size of the axis") {
  OnnxImport import = bounded([](OnnxMaker& m) { m.node("Expand", {"x", "c"}, {"y"}); }, 1, 0, {}).import();
  REQUIRE(import.model);
  const auto at = [&](int64_t rows, int64_t columns) {
    ModelBindings bindings;
    for (const ModelPort& p : import.model->ports)
      bindings.ports.push_back(p.kind == PortKind::Input ? boundedInput(p, {rows, columns}) : HostTensor());
    return static_cast<bool>(interpret(*import.model, bindings));
  };
  for (int64_t rows : {0, 1, 2, 5, 6, 7})
    for (int64_t columns : {0, 1, 2, 3}) {
      INFO(rows << " " << columns);
      CHECK(at(rows, columns) == ((rows == 1 || rows == 6) && (columns == 1 || columns == 3)));
    }
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
  CHECK(saysOf(m.import(), "'size.0' is taken to be 0 to 512"));
}

// As PyTorch's exporter writes repeat_interleave: the sum of the counts is the number of rows.
TEST_CASE("a size of a run that nothing bounds is short, and a note says how to bound it") {
  OnnxMaker m(18);
  m.input("k", {"n"}, kInt64).output("y", kInt64);
  m.ints("zero", {}, {0}).ints("one", {}, {1}).ints("first", {1}, {0});
  m.node("CumSum", {"k", "first"}, {"ends"}), m.node("ReduceMax", {"ends"}, {"all"});
  addAttribute(*m.model.mutable_graph()->mutable_node(1), "keepdims", int64_t{0});
  m.node("Range", {"zero", "all", "one"}, {"y"});
  const OnnxImport import = m.import();
  REQUIRE(import.model);
  CHECK(saysOf(import, "'all.0' is taken to be 0 to 512: Range (opset 18) takes it from a run"));
  CHECK(saysOf(import, "--var all.0=LO:HI"));
  const auto rows = [](const OnnxImport& from, const std::vector<int64_t>& k) {
    const auto count = static_cast<int64_t>(k.size());
    HostTensor counts = HostTensor::zeros(DType::I64, {count});
    for (int64_t i = 0; i < count; ++i) counts.set(i, Scalar::ofInt(DType::I64, k[static_cast<size_t>(i)]));
    return computed(from, [&](const ModelPort&) { return counts; }, {{"n", count}});
  };
  CHECK(rows(import, {2, 0, 3})->dims == std::vector<int64_t>{5});
  CHECK(rows(import, {500, 12})->dims == std::vector<int64_t>{512});
  CHECK_FALSE(rows(import, {500, 13}));
  LoadOptions options;
  options.variables.push_back({"all.0", 0, 1000, {}});
  const OnnxImport longer = m.import(options);
  REQUIRE(longer.model);
  CHECK(rows(longer, {500, 500})->dims == std::vector<int64_t>{1000});
  CHECK_FALSE(rows(longer, {500, 501}));
}

TEST_CASE("what is refused for another reason names that") {
  OnnxMaker m(18);
  m.input("k", {"4"}).output("y").floats("ten", {}, {10});
  addAttribute(m.node("Cast", {"k"}, {"c"}), "to", int64_t{kInt64});
  m.node("ConstantOfShape", {"c"}, {"grid"}), m.node("NoSuchOp", {"grid"}, {"y"});
  CHECK(isRefused(m.import(), "NoSuchOp"));
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
