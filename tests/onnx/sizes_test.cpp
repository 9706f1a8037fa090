// Sizes that models compute: each model with variables gives what it gives with these as numbers.
#include <catch2/catch.hpp>
#include <functional>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int kFloat = 1, kInt64 = 7;

/// x is [n, 3, h]; `h` and `n` are its sizes as scalars, `hv` and `nv` as vectors.
struct Sized : OnnxMaker {
  Sized() : OnnxMaker(18) {
    input("x", {"n", "3", "h"});
    output("y");
    for (const auto& [name, value] :
         std::map<std::string, int64_t>{{"zero", 0}, {"one", 1}, {"two", 2}, {"seven", 7}}) {
      ints(name, {}, {value});
      ints(name + "v", {1}, {value});
    }
    ints("three_v", {1}, {3});
    ints("last", {1}, {INT64_MAX});
    node("Shape", {"x"}, {"shape"});
    node("Gather", {"shape", "zero"}, {"n_"});
    node("Gather", {"shape", "two"}, {"h_"});
    vector("n_"), vector("h_");
  }
  /// NAME + "v", from a scalar.
  void vector(const std::string& name) { node("Unsqueeze", {name, "zerov"}, {name + "v"}); }
  void concat(const Names& parts, const std::string& to) {
    addAttribute(node("Concat", parts, {to}), "axis", int64_t{0});
  }
  void cast(const std::string& from, const std::string& to, int64_t type) {
    addAttribute(node("Cast", {from}, {to}), "to", type);
  }
};

struct Case {
  std::string_view what;
  std::function<void(Sized&)> build;
};

void slicedTo(Sized& m, const std::string& end, const std::string& to = "y") {
  m.vector(end);
  m.node("Slice", {"x", "zerov", end + "v", "twov"}, {to});
}

proto::NodeProto& windows(Sized& m, const std::string& op, const std::string& pad, int64_t kernel, int64_t stride) {
  proto::NodeProto& pool = m.node(op, {"x"}, {"y"});
  addAttribute(pool, "auto_pad", pad), addAttribute(pool, "kernel_shape", std::vector<int64_t>{kernel});
  addAttribute(pool, "strides", std::vector<int64_t>{stride});
  return pool;
}

void throughFloats(Sized& m, const std::string& op, float by, const std::string& round) {
  m.cast("h_", "f", kFloat);
  m.floats("by", {}, {by});
  m.node(op, {"f", "by"}, {"scaled"});
  m.node(round, {"scaled"}, {"rounded"});
  m.cast("rounded", "end", kInt64);
  slicedTo(m, "end");
}

void resized(Sized& m, const std::string& mode, float scale) {
  m.floats("scales", {3}, {1, 1, scale});
  addAttribute(m.node("Resize", {"x", "", "scales"}, {"y"}), "mode", mode);
}

const Case kCases[] = {
    {"repeated", [](Sized& m) { m.concat({"onev", "twov", "n_v"}, "r"), m.node("Tile", {"x", "r"}, {"y"}); }},
    {"in uneven parts",
     [](Sized& m) {
       auto& split = m.node("Split", {"x"}, {"a", "b", "c"});
       addAttribute(split, "axis", int64_t{2}), addAttribute(split, "num_outputs", int64_t{3});
       addAttribute(m.node("Concat", {"c", "a", "b"}, {"y"}), "axis", int64_t{2});
     }},
    {"padded to a multiple",
     [](Sized& m) {
       m.node("Neg", {"h_"}, {"minus"}), m.node("Mod", {"minus", "seven"}, {"p"}), m.vector("p");
       m.concat({"zerov", "zerov", "zerov", "zerov", "zerov", "pv"}, "pads");
       m.node("Pad", {"x", "pads"}, {"wide"});
       m.ints("windows", {4}, {0, 3, -1, 7});
       m.node("Reshape", {"wide", "windows"}, {"y"});
     }},
    {"from the end",
     [](Sized& m) {
       m.node("Neg", {"h_"}, {"minus"}), m.node("Add", {"minus", "one"}, {"start"}), m.vector("start");
       m.node("Slice", {"x", "startv", "last", "twov"}, {"y"});
     }},
    {"from where the sign is open",
     [](Sized& m) {
       m.node("Sub", {"h_", "seven"}, {"start"}), m.vector("start");
       m.node("Slice", {"x", "startv", "last", "twov"}, {"y"});
     }},
    {"windows, divided toward zero",
     [](Sized& m) {
       m.node("Sub", {"h_", "two"}, {"a"}), m.node("Div", {"a", "two"}, {"b"}), m.node("Add", {"b", "one"}, {"q"});
       m.node("Range", {"zero", "q", "one"}, {"r"}), m.node("Mod", {"r", "h_"}, {"at"});
       addAttribute(m.node("Gather", {"x", "at"}, {"y"}), "axis", int64_t{2});
     }},
    {"a quotient that is 0 or 1",
     [](Sized& m) {
       m.node("Min", {"h_", "seven"}, {"least"}), m.node("Sub", {"h_", "least"}, {"more"});
       m.node("Mul", {"more", "two"}, {"twice"}), m.node("Add", {"twice", "h_"}, {"below"});
       m.node("Div", {"h_", "below"}, {"end"});
       slicedTo(m, "end");
     }},
    {"without an axis that is 1 in every run",
     [](Sized& m) {
       m.node("Min", {"h_", "two"}, {"least"}), m.node("Sub", {"least", "one"}, {"end"}), slicedTo(m, "end", "part");
       m.node("Squeeze", {"part", "twov"}, {"y"});
     }},
    {"in rows of a size that may be 0",
     [](Sized& m) {
       m.node("Div", {"h_", "two"}, {"half"}), m.node("Mul", {"half", "two"}, {"end"}), slicedTo(m, "end", "part");
       m.node("Sub", {"half", "one"}, {"less"}), m.node("Sub", {"half", "less"}, {"unit"});
       m.node("Mul", {"half", "unit"}, {"row"}), m.vector("row");
       m.ints("rest", {1}, {-1}), m.concat({"rest", "rowv"}, "shape2");
       m.node("Reshape", {"part", "shape2"}, {"y"});
     }},
    {"half, through floats", [](Sized& m) { throughFloats(m, "Mul", 0.5f, "Ceil"); }},
    {"a third, through floats", [](Sized& m) { throughFloats(m, "Div", 3, "Floor"); }},
    {"three quarters, through floats", [](Sized& m) { throughFloats(m, "Mul", 0.75f, "Floor"); }},
    {"the larger by a condition",
     [](Sized& m) {
       m.node("Greater", {"h_", "seven"}, {"c"}), m.node("Where", {"c", "seven", "two"}, {"end"});
       slicedTo(m, "end");
     }},
    {"counted in floats",
     [](Sized& m) {
       m.cast("h_", "f", kFloat), m.floats("f0", {}, {0}), m.floats("f1", {}, {1});
       m.node("Range", {"f0", "f", "f1"}, {"r"}), m.node("Add", {"x", "r"}, {"y"});
     }},
    {"counted in steps",
     [](Sized& m) {
       m.node("Range", {"zero", "h_", "n_"}, {"r"}), m.cast("r", "f", kFloat), m.node("ReduceSum", {"x"}, {"s"});
       m.node("Add", {"s", "f"}, {"y"});
     }},
    {"parts by steps of a size",
     [](Sized& m) {
       m.node("Div", {"h_", "two"}, {"half"}), m.vector("half"), m.ints("nine", {1}, {9});
       m.node("Slice", {"x", "onev", "ninev", "twov", "halfv"}, {"part"}), m.ints("ninev", {1}, {9});
       m.node("ReduceSum", {"part", "twov"}, {"y"});
     }},
    {"padded to stay as long, by steps", [](Sized& m) { windows(m, "MaxPool", "SAME_UPPER", 3, 2); }},
    {"padded to stay as long, more in front", [](Sized& m) { windows(m, "AveragePool", "SAME_LOWER", 4, 3); }},
    {"padded to stay as long, with padding that counts",
     [](Sized& m) { addAttribute(windows(m, "AveragePool", "SAME_UPPER", 4, 2), "count_include_pad", int64_t{1}); }},
    {"windows shorter than their steps", [](Sized& m) { windows(m, "LpPool", "SAME_LOWER", 2, 3); }},
    {"a convolution that stays as long",
     [](Sized& m) {
       m.floats("w", {1, 3, 3}, {1, 2, 3, -1, 4, 2, 5, 1, 7});
       proto::NodeProto& conv = m.node("Conv", {"x", "w"}, {"y"});
       addAttribute(conv, "auto_pad", std::string("SAME_UPPER")),
           addAttribute(conv, "strides", std::vector<int64_t>{2});
     }},
    {"twice as long", [](Sized& m) { resized(m, "nearest", 2); }},
    {"half as long", [](Sized& m) { resized(m, "nearest", 0.5f); }},
    {"one and a half times as long", [](Sized& m) { resized(m, "linear", 1.5f); }},
};

LoadOptions withSizes(int64_t n, int64_t h) {
  LoadOptions options;
  for (const auto& [name, value] : {std::pair("n", n), std::pair("h", h)})
    options.variables.push_back(parseVariableOption(std::string(name) + "=" + std::to_string(value)).value());
  return options;
}

// At several sizes the model with variables gives what it gives with numbers.
void checkSizes(const Sized& m) {
  LoadOptions bounds;
  for (const char* text : {"n=1:3", "h=2:15"}) bounds.variables.push_back(parseVariableOption(text).value());
  OnnxImport symbolic = m.import(bounds);
  for (const Error& e : symbolic.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(symbolic.model);
  for (const auto& [n, h] : {std::pair<int64_t, int64_t>{1, 2}, {2, 3}, {3, 7}, {2, 8}, {1, 15}}) {
    INFO("n=" << n << " h=" << h);
    HostTensor got = run(symbolic, {{"n", n}, {"h", h}}), wanted = run(m.import(withSizes(n, h)));
    REQUIRE(got.dims == wanted.dims);
    for (int64_t i = 0; i < got.numel(); ++i)
      CHECK(got.at(i).asFloat() == Approx(wanted.at(i).asFloat()).epsilon(1e-5).margin(1e-5));
  }
  const auto converted = m.convert(bounds);
  if (!converted) UNSCOPED_INFO(toText(converted.error()));
  CHECK(converted);
}

}  // namespace

TEST_CASE("sizes that models compute are those of the model with numbers") {
  for (const Case& c : kCases) {
    Sized m;
    c.build(m);
    INFO(c.what);
    checkSizes(m);
  }
}

TEST_CASE("parts between sizes, forward and backward, are those between numbers") {
  const std::vector<std::string> bounds = {"half", "open", "below", "beyond", "fourth", "back"};
  for (const std::string& start : bounds)
    for (const std::string& end : bounds)
      for (int64_t step : {-3, -1, 2}) {
        Sized m;
        m.ints("four", {}, {4}), m.ints("fourthv", {1}, {4}), m.ints("backv", {1}, {-3}), m.ints("step", {1}, {step});
        m.node("Div", {"h_", "two"}, {"half"}), m.vector("half");        // 0 or more
        m.node("Sub", {"half", "four"}, {"open"}), m.vector("open");     // of either sign
        m.node("Sub", {"zero", "h_"}, {"minus"});                        // the first element, from the end
        m.node("Sub", {"minus", "four"}, {"below"}), m.vector("below");  // before it
        m.node("Add", {"h_", "four"}, {"beyond"}), m.vector("beyond");
        m.node("Slice", {"x", start + "v", end + "v", "twov", "step"}, {"y"});
        INFO(start << " to " << end << " by " << step);
        checkSizes(m);
      }
}

// --- Windows that an axis is too short for

namespace {

OnnxMaker windowed(const std::string& op, int64_t kernel, int64_t stride, std::vector<int64_t> pads, bool counts,
                   int opset = 19) {
  OnnxMaker m(opset);
  m.input("x", {"1", "1", "h"}).output("y");
  m.floats("w", {1, 1, kernel}, std::vector<float>(static_cast<size_t>(kernel), 1));
  proto::NodeProto& node = m.node(op, op == "Conv" ? OnnxMaker::Names{"x", "w"} : OnnxMaker::Names{"x"}, {"y"});
  addAttribute(node, "kernel_shape", std::vector<int64_t>{kernel});
  addAttribute(node, "strides", std::vector<int64_t>{stride});
  addAttribute(node, "pads", std::move(pads));
  if (counts) addAttribute(node, "count_include_pad", int64_t{1});
  return m;
}

LoadOptions sized(const std::string& option) {
  LoadOptions options;
  options.variables.push_back(parseVariableOption(option).value());
  return options;
}

struct Short {
  const char* op;
  int64_t kernel, stride;
  std::vector<int64_t> pads;
  bool counts;
  int64_t size;
  double value;
  int opset = 19;
};

}  // namespace

// The values are those of ONNX Runtime for the elements 0, 1, ..
TEST_CASE("an axis that lacks less than a stride for a window of a pool has one") {
  const Short kShort[] = {
      {"MaxPool", 2, 2, {0, 0}, false, 1, 0},
      {"MaxPool", 3, 2, {0, 0}, false, 2, 1},
      {"MaxPool", 4, 3, {1, 0}, false, 1, 0},
      {"AveragePool", 3, 3, {0, 0}, false, 2, 0.5},
      {"AveragePool", 4, 3, {1, 0}, true, 2, 1. / 3},
      {"AveragePool", 4, 3, {0, 1}, false, 2, 0.5},
      {"LpPool", 3, 2, {0, 0}, false, 2, 1},
      {"AveragePool", 4, 3, {0, 1}, true, 2, 1. / 3},
      {"AveragePool", 4, 3, {1, 0}, true, 2, 0.25, 17},
      {"AveragePool", 4, 3, {0, 1}, true, 2, 0.25, 17},
      {"AveragePool", 8, 8, {0, 0}, true, 5, 1.25, 17},
      {"AveragePool", 3, 3, {0, 0}, false, 2, 0.5, 17},
  };
  for (const Short& s : kShort) {
    INFO(s.op << " of " << s.kernel << " by " << s.stride << " at " << s.size);
    const OnnxMaker m = windowed(s.op, s.kernel, s.stride, s.pads, s.counts, s.opset);
    const std::string size = std::to_string(s.size);
    for (const HostTensor& y : {run(m.import(sized("h=" + size))), run(m.import(sized("h=1:9")), {{"h", s.size}})}) {
      REQUIRE(y.dims == std::vector<int64_t>{1, 1, 1});
      CHECK(y.at(0).asFloat() == Approx(s.value));
    }
  }
}

TEST_CASE("sizes that nobody bounded leave room for a window") {
  const OnnxMaker pool = windowed("MaxPool", 2, 2, {0, 0}, false), conv = windowed("Conv", 3, 2, {0, 0}, false);
  for (const auto& [m, least] : {std::pair(&pool, 2), std::pair(&conv, 3)}) {
    const OnnxImport import = m->import();
    REQUIRE(import.model);
    REQUIRE(import.model->variables.size() == 1);
    CHECK(import.model->variables[0].bounds().min == least);
    CHECK(toText(import.notes.front()).find("needs it") != std::string::npos);
  }
  const OnnxImport given = conv.import(sized("h=1:9"));
  REQUIRE(given.model);
  CHECK(run(given, {{"h", 4}}).dims == std::vector<int64_t>{1, 1, 1});
  const auto tooShort = interpret(*given.model, bindingsOf(*given.model, {{"h", 2}}));
  REQUIRE(!tooShort);
  CHECK(toText(tooShort.error()).find("the kernel has 3 elements along axis 2") != std::string::npos);
}

TEST_CASE("sizes that are equal where nothing is left of both bound no variable") {
  OnnxMaker m;  // what follows the first 240 elements, in rows of 160
  m.input("x", {"b", "n"}).output("y").ints("from", {1}, {240}).ints("to", {1}, {1 << 30}).ints("one", {1}, {1});
  m.ints("rows", {3}, {0, -1, 160});
  OnnxMaker whole = m;  // up to a whole number of them: a run checks it
  m.node("Slice", {"x", "from", "to", "one"}, {"rest"}), m.node("Reshape", {"rest", "rows"}, {"y"});
  whole.ints("row", {1}, {160}).node("Shape", {"x"}, {"sizes"}), whole.node("Gather", {"sizes", "one"}, {"n_"});
  whole.node("Sub", {"n_", "from"}, {"after"}), whole.node("Mod", {"after", "row"}, {"over"});
  whole.node("Sub", {"n_", "over"}, {"end"}), whole.node("Slice", {"x", "from", "end", "one"}, {"rest"});
  whole.node("Reshape", {"rest", "rows"}, {"y"});
  for (const OnnxMaker& model : {m, whole}) {
    const OnnxImport import = model.import();
    for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
    REQUIRE(import.model);
    REQUIRE(import.model->variables.size() == 2);
    CHECK(import.model->variables[1].bounds().max > 100000);
    CHECK(run(import, {{"b", 2}, {"n", 720}}).dims == std::vector<int64_t>{2, 3, 160});
  }
}
