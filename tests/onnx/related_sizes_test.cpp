// What an op needs of several sizes together takes nothing away from one of them: every run checks it.
#include <catch2/catch.hpp>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

Interval boundsOf(const OnnxImport& import, std::string_view name) {
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  for (UOp v : import.model->variables)
    if (v.argAs<VarArg>().name == name) return v.bounds();
  return {0, 0};
}

bool fails(const OnnxImport& import, const VariableValues& variables) {
  return !interpret(*import.model, bindingsOf(*import.model, variables));
}

// x [h, w] as one axis; the first 30 of it times a weight.
OnnxMaker thirtyOf() {
  OnnxMaker m;
  m.input("x", {"h", "w"}).output("y").ints("flat", {1}, {-1}).ints("from", {1}, {0}).ints("to", {1}, {30});
  m.floats("weight", {30, 1}, std::vector<float>(30, 1));
  m.node("Reshape", {"x", "flat"}, {"all"}), m.node("Slice", {"all", "from", "to"}, {"some"});
  m.node("MatMul", {"some", "weight"}, {"y"});
  return m;
}

}  // namespace

TEST_CASE("a product of sizes that must be large enough leaves each of them small") {
  const OnnxImport import = thirtyOf().import();
  CHECK(boundsOf(import, "h").min == 1);
  CHECK(boundsOf(import, "w").min == 1);
  CHECK(run(import, {{"h", 1}, {"w", 30}}) == f32({1}, {435}));
  CHECK(run(import, {{"h", 6}, {"w", 7}}) == f32({1}, {435}));
  CHECK(fails(import, {{"h", 4}, {"w", 7}}));
  CHECK(thirtyOf().convert());
}

TEST_CASE("what has one row of more than one stretches, and no size is equal to it") {
  for (const int64_t step : {1, 3}) {
    OnnxMaker m;
    m.input("x", {"n", "2"}).output("y").ints("rows", {1}, {0}).ints("step", {1}, {step});
    m.ints("from", {1}, {-2}).ints("to", {1}, {-1});
    m.node("Slice", {"x", "from", "to", "rows", "step"}, {"last but one"});
    m.node("Mul", {"x", "last but one"}, {"y"});
    const OnnxImport import = m.import();
    CHECK(boundsOf(import, "n").min == 2);
    CHECK(run(import, {{"n", 2}}) == f32({2, 2}, {0, 1, 0, 3}));
    CHECK(run(import, {{"n", 3}}) == f32({3, 2}, {0, 3, 4, 9, 8, 15}));
    CHECK(m.convert());
  }
}

// x [b * (n // 4 - 3) * 4], as b rows: the product is divided by how many there are of each, which may be negative or 0
// for small n.
OnnxMaker windows(bool areFloats) {
  OnnxMaker m;
  m.input("x", {"b", "n"}).output("y").ints("zero", {1}, {0}).ints("one", {1}, {1}).ints("two", {1}, {2});
  m.ints("three", {1}, {3}).ints("four", {1}, {4}).ints("rest", {1}, {-1}).ints("far", {1}, {1'000'000});
  m.node("Shape", {"x"}, {"shape"}), m.node("Slice", {"shape", "zero", "one"}, {"b"});
  m.node("Slice", {"shape", "one", "two"}, {"n"}), m.node("Div", {"n", "four"}, {"quarter"});
  m.node("Sub", {"quarter", "three"}, {"count"}), m.node("Mul", {"b", "count"}, {"all"});
  const auto cast = [&](const std::string& from, const std::string& to, int64_t dtype) {
    addAttribute(m.node("Cast", {from}, {to}), "to", dtype);
  };
  if (areFloats) cast("all", "all.f", 1), cast("count", "count.f", 1);
  const std::string end = areFloats ? ".f" : "";
  m.node("Div", {"all" + end, "count" + end}, {"rows" + end});
  if (areFloats) cast("rows.f", "rows", 7);
  addAttribute(m.node("Concat", {"rows", "rest"}, {"to"}), "axis", int64_t{0});
  m.node("Reshape", {"x", "to"}, {"y"});
  return m;
}

TEST_CASE("a product of sizes by one of them is the others, whatever its sign may be") {
  for (const bool areFloats : {false, true}) {
    LoadOptions options;
    options.variables = {parseVariableOption("b=1:64").value(), parseVariableOption("n=1:4096").value()};
    const OnnxImport import = windows(areFloats).import(options);
    CHECK(import.notes.empty());
    CHECK(run(import, {{"b", 2}, {"n", 17}}).dims == std::vector<int64_t>{2, 17});
    CHECK(run(import, {{"b", 3}, {"n", 5}}).dims == std::vector<int64_t>{3, 5});
  }
}

TEST_CASE("TopK of a product of sizes leaves each of them small") {
  OnnxMaker m;
  m.input("x", {"h", "w"}).output("y").ints("flat", {1}, {-1}).ints("k", {1}, {10});
  m.node("Reshape", {"x", "flat"}, {"all"}), m.node("TopK", {"all", "k"}, {"y", "i"});
  const OnnxImport import = m.import();
  CHECK(boundsOf(import, "h").min == 1);
  CHECK(run(import, {{"h", 2}, {"w", 5}}).at(0).asFloat() == 9);
  CHECK(fails(import, {{"h", 3}, {"w", 3}}));
}

TEST_CASE("the smaller of two sizes is one of them in every run, and nothing bounds them by each other") {
  OnnxMaker m;
  m.input("x", {"n"}).input("v", {"m"}).output("y").ints("zero", {1}, {0});
  m.node("Shape", {"v"}, {"to"}), m.node("Slice", {"x", "zero", "to"}, {"some"});
  m.node("Add", {"some", "v"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(boundsOf(import, "n") == boundsOf(import, "m"));
  CHECK(run(import, {{"n", 9}, {"m", 4}}) == f32({4}, {0, 2, 4, 6}));
  CHECK(run(import, {{"n", 4}, {"m", 4}}) == f32({4}, {0, 2, 4, 6}));
  CHECK(fails(import, {{"n", 3}, {"m", 4}}));
}

TEST_CASE("a size that is a quotient of what a table has bounds the table's index") {
  OnnxMaker m;
  m.input("x", {"m", "m"}).output("y").ints("zero", {1}, {0}).ints("rest", {1}, {-1}).ints("one", {1}, {1});
  m.floats("table", {9, 9}, std::vector<float>(81, 2));
  m.node("Shape", {"x"}, {"dims"}), m.node("Slice", {"dims", "zero", "one"}, {"size"});
  m.node("Slice", {"table", "zero", "size", "zero"}, {"rows"});
  m.node("Slice", {"rows", "zero", "size", "one"}, {"part"});
  addAttribute(m.node("Concat", {"size", "rest"}, {"shape"}), "axis", int64_t{0});
  m.node("Reshape", {"part", "shape"}, {"square"}), m.node("Add", {"x", "square"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(boundsOf(import, "m").max == 9);
  CHECK(import.model->equalSizes.empty());
  CHECK(run(import, {{"m", 2}}) == f32({2, 2}, {2, 3, 4, 5}));
}

TEST_CASE("the middle of a table of distances bounds the size, and does not make it one") {
  OnnxMaker m;
  m.input("x", {"n"}).output("y").ints("zero", {1}, {0}).ints("one", {1}, {1}).ints("two", {1}, {2});
  m.ints("middle", {1}, {8}).floats("table", {15}, std::vector<float>(15, 1));
  m.node("Shape", {"x"}, {"size"}), m.node("Sub", {"middle", "size"}, {"first"});
  m.node("Sub", {"middle", "one"}, {"center"}), m.node("Add", {"center", "size"}, {"end"});
  m.node("Slice", {"table", "first", "end"}, {"distances"}), m.node("Shape", {"distances"}, {"count"});
  m.node("Div", {"count", "two"}, {"half"}), m.node("Add", {"half", "one"}, {"to"});
  m.node("Slice", {"distances", "zero", "to"}, {"some"}), m.node("Add", {"x", "some"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(boundsOf(import, "n").min == 1);
  CHECK(boundsOf(import, "n").max == 8);
  CHECK(run(import, {{"n", 3}}) == f32({3}, {1, 2, 3}));
}

TEST_CASE("the last window of a pool that rounds up needs the beginning of itself") {
  for (const auto& [kernel, stride, least] : {std::tuple<int64_t, int64_t, int64_t>{4, 4, 1}, {3, 2, 2}, {5, 2, 4}}) {
    OnnxMaker m;
    m.input("x", {"1", "1", "n"}).output("y");
    proto::NodeProto& pool = m.node("MaxPool", {"x"}, {"y"});
    addAttribute(pool, "kernel_shape", std::vector<int64_t>{kernel});
    addAttribute(pool, "strides", std::vector<int64_t>{stride});
    addAttribute(pool, "ceil_mode", int64_t{1});
    const OnnxImport import = m.import();
    CHECK(boundsOf(import, "n").min == least);
    const HostTensor y = run(import, {{"n", least}});
    REQUIRE(y.dims == std::vector<int64_t>{1, 1, 1});
    CHECK(y.at(0).asFloat() == static_cast<double>(least) - 1);
  }
}

TEST_CASE("a size of -1 beside quotients is what it is where these are exact") {
  OnnxMaker m;
  m.input("x", {"b", "3", "h", "w"}).output("y").ints("two", {1}, {2}).ints("rest", {1}, {-1}).ints("three", {1}, {3});
  addAttribute(m.node("Shape", {"x"}, {"height"}), "start", int64_t{2});
  addAttribute(*m.model.mutable_graph()->mutable_node(0), "end", int64_t{3});
  addAttribute(m.node("Shape", {"x"}, {"width"}), "start", int64_t{3});
  m.node("Div", {"height", "two"}, {"rows"}), m.node("Div", {"width", "two"}, {"columns"});
  addAttribute(m.node("Concat", {"rest", "three", "rows", "two", "columns", "two"}, {"shape"}), "axis", int64_t{0});
  m.node("Reshape", {"x", "shape"}, {"parts"});
  addAttribute(m.node("Transpose", {"parts"}, {"y"}), "perm", std::vector<int64_t>{0, 1, 3, 5, 2, 4});
  const OnnxImport import = m.import();
  CHECK(run(import, {{"b", 1}, {"h", 2}, {"w", 4}}).dims == std::vector<int64_t>{1, 3, 2, 2, 1, 2});
  CHECK(run(import, {{"b", 5}, {"h", 4}, {"w", 2}}).dims == std::vector<int64_t>{5, 3, 2, 2, 2, 1});
  CHECK(fails(import, {{"b", 1}, {"h", 3}, {"w", 4}}));
}

TEST_CASE("a resize to a fixed size averages over as many elements as a free size has for each") {
  for (const char* mode : {"linear", "cubic"})
    for (const int64_t n : {1, 3, 4, 9, 40}) {
      auto resized = [&](const std::string& size) {
        OnnxMaker m(18);
        m.input("x", {"1", "1", size}).output("y").ints("sizes", {3}, {1, 1, 4});
        proto::NodeProto& node = m.node("Resize", {"x", "", "", "sizes"}, {"y"});
        addAttribute(node, "mode", std::string(mode)), addAttribute(node, "antialias", int64_t{1});
        return m.import();
      };
      INFO(mode << " of " << n);
      const HostTensor have = run(resized("n"), {{"n", n}}), want = run(resized(std::to_string(n)));
      REQUIRE(have.dims == want.dims);
      for (int64_t i = 0; i < want.numel(); ++i)
        CHECK(have.at(i).asFloat() == Approx(want.at(i).asFloat()).margin(1e-5));
    }
}

TEST_CASE("a size that others may be equal to is not bounded by where it is so for all of them") {
  // A window of b, padded by 4, that begins at 2 and is as high as a: for one of 1 to 3 rows whatever b has.
  OnnxMaker m;
  m.input("a", {"h", "2"}).input("b", {"k", "2"}).output("y").ints("pads", {4}, {2, 0, 2, 0}).ints("two", {1}, {2});
  m.node("Pad", {"b", "pads"}, {"padded"}), m.node("Shape", {"a"}, {"shape"});
  addAttribute(*m.model.mutable_graph()->mutable_node(1), "end", int64_t{1});
  m.node("Add", {"shape", "two"}, {"end"}), m.node("Slice", {"padded", "two", "end"}, {"window"});
  m.node("Add", {"a", "window"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(boundsOf(import, "h").max > 1000);
  CHECK(run(import, {{"h", 5}, {"k", 5}}).dims == std::vector<int64_t>{5, 2});
  CHECK(run(import, {{"h", 2}, {"k", 9}}).dims == std::vector<int64_t>{2, 2});
  CHECK(fails(import, {{"h", 9}, {"k", 2}}));
}

TEST_CASE("a size on which nothing depends that an op needs is not bounded") {
  // The first 16 rows in pairs; the columns are cut too.
  OnnxMaker m;
  m.input("x", {"h", "w"}).output("y").ints("from", {2}, {0, 0}).ints("to", {2}, {16, 16});
  m.ints("last", {1}, {1}).ints("pairs", {3}, {-1, 2, 0});
  m.node("Slice", {"x", "from", "to"}, {"part"}), m.node("Unsqueeze", {"part", "last"}, {"wide"});
  addAttribute(m.node("Transpose", {"wide"}, {"turned"}), "perm", std::vector<int64_t>{0, 1, 2});
  m.node("Reshape", {"turned", "pairs"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(boundsOf(import, "h").min == 16);
  CHECK(boundsOf(import, "w").min == 1);
  CHECK(boundsOf(import, "w").max > 1000);
  CHECK(run(import, {{"h", 16}, {"w", 3}}).dims == std::vector<int64_t>{8, 2, 3});
  CHECK(run(import, {{"h", 20}, {"w", 40}}).dims == std::vector<int64_t>{8, 2, 16});
}

TEST_CASE("bounds that see less than the sizes make room for themselves") {
  // x [n, n], n % 4 times: nothing at the greatest n, nor at half of it.
  OnnxMaker m;
  m.input("x", {"n", "n"}).output("y").ints("four", {1}, {4});
  m.node("Shape", {"x"}, {"n"}), m.node("Mod", {"n", "four"}, {"times"});
  addAttribute(*m.model.mutable_graph()->mutable_node(0), "end", int64_t{1});
  addAttribute(m.node("Concat", {"times", "n"}, {"tiles"}), "axis", int64_t{0});
  m.node("Tile", {"x", "tiles"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(boundsOf(import, "n").min == 1);
  CHECK(run(import, {{"n", 2}}).dims == std::vector<int64_t>{4, 4});
  CHECK(run(import, {{"n", 4}}).dims == std::vector<int64_t>{0, 16});
}

TEST_CASE("operands that share a batch under two names meet") {
  OnnxMaker m(20);
  m.input("x", {"n", "1", "2", "2"}).input("grid", {"k", "1", "1", "2"}).output("y");
  m.node("GridSample", {"x", "grid"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(run(import, {{"n", 2}, {"k", 2}}).dims == std::vector<int64_t>{2, 1, 1, 1});
}
