// What ops need of sizes that nobody bounded: dims that become one, and bounds.
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

#include "ir/text.h"
#include "onnx_maker.h"

using namespace svod;

namespace {

LoadOptions withVariables(std::initializer_list<const char*> texts) {
  LoadOptions options;
  for (const char* text : texts) options.variables.push_back(parseVariableOption(text).value());
  return options;
}

/// The types of all inputs, or the first error.
std::string inputsOf(const OnnxImport& import) {
  if (!import.model) return toText(import.model.error());
  std::string all;
  for (const ModelPort& p : import.model->ports)
    if (p.kind == PortKind::Input) all += (all.empty() ? "" : " ") + toTypeText(p.buffer);
  return all;
}

/// "n [1, 1048576]" for every variable.
std::string variablesOf(const OnnxImport& import) {
  if (!import.model) return toText(import.model.error());
  std::string all;
  for (UOp v : import.model->variables)
    all += (all.empty() ? "" : " ") + std::string(v.argAs<VarArg>().name) + " [" + std::to_string(v.bounds().min) +
           ", " + std::to_string(v.bounds().max) + "]";
  return all;
}

/// "1 224" for what two variables are likely to be.
std::string likelyOf(const OnnxImport& import) {
  if (!import.model) return toText(import.model.error());
  std::string all;
  for (UOp v : import.model->variables) all += (all.empty() ? "" : " ") + std::to_string(v.argAs<VarArg>().likely);
  return all;
}

bool notes(const OnnxImport& import, const std::string& text) {
  std::string all;
  for (const Error& e : import.notes) all += toText(e) + "\n";
  INFO(all);
  const bool found = all.find(text) != std::string::npos;
  CHECK(found);
  return found;
}

OnnxMaker sumOf(const OnnxMaker::Names& a, const OnnxMaker::Names& b) {
  OnnxMaker m;
  m.input("a", a).input("b", b).output("y");
  m.node("Add", {"a", "b"}, {"y"}).set_name("plus");
  return m;
}

}  // namespace

TEST_CASE("dims that an op adds are one") {
  const OnnxImport import = sumOf({"s10", "4"}, {"s86", "4"}).import();
  CHECK(inputsOf(import) == "f32[s10,4] f32[s10,4]");
  CHECK(variablesOf(import) == "s10 [1, 1048576]");
  notes(import, "'s86' is taken for s10: Add (opset 17), node 'plus' needs it");
  notes(import, "--var s86=s10 says so");

  // The variable that was given bounds stays, and with both given they are two, which runs compare.
  CHECK(inputsOf(sumOf({"n"}, {"m"}).import(withVariables({"m=2:9"}))) == "f32[m] f32[m]");
  CHECK(inputsOf(sumOf({"n"}, {"m"}).import(withVariables({"m=2:9", "n=2:9"}))) == "f32[n] f32[m]");
  CHECK(inputsOf(sumOf({"n"}, {"m"}).import(withVariables({"m=2:9", "n=m"}))) == "f32[m] f32[m]");
  CHECK(inputsOf(sumOf({"n"}, {"7"}).import()) == "f32[7] f32[7]");
  // A dim of 1 stretches and forces nothing.
  CHECK(inputsOf(sumOf({"n", "1"}, {"1", "m"}).import()) == "f32[n,1] f32[1,m]");
}

TEST_CASE("sizes that only a run knows bound no variable") {
  OnnxMaker m(18);
  m.input("x", {"n", "4"}).input("k", {"1"}, 7).output("y").output("z", 7);
  addAttribute(m.node("TopK", {"x", "k"}, {"y", "z"}), "axis", int64_t{0});
  CHECK(variablesOf(m.import()) == "n [1, 512]");
  OnnxMaker of(18);
  of.input("x", {"n", "4"}).input("v", {"9"}).ints("start", {1}, {1}).ints("end", {1}, {2}).output("y").output("z", 7);
  of.node("NonZero", {"v"}, {"places"}), of.node("Shape", {"places"}, {"s"}),
      of.node("Slice", {"s", "start", "end"}, {"k"});
  addAttribute(of.node("TopK", {"x", "k"}, {"y", "z"}), "axis", int64_t{0});
  CHECK(variablesOf(of.import()) == "n [1, 1048576]");  // nor does a sort: there are nine passes at most
}

TEST_CASE("a part may be empty, and one that given bounds may leave less than nothing is compared by runs") {
  OnnxMaker m(18);
  m.input("x", {"n"}).ints("four", {1}, {4}).output("y").output("z");
  m.node("Shape", {"x"}, {"s"}), m.node("Sub", {"s", "four"}, {"rest"});
  addAttribute(m.node("Concat", {"four", "rest"}, {"parts"}), "axis", int64_t{0});
  m.node("Split", {"x", "parts"}, {"y", "z"});
  CHECK(variablesOf(m.import()) == "n [4, 1048576]");
  const OnnxImport given = m.import(withVariables({"n=2:9"}));
  CHECK(variablesOf(given) == "n [2, 9]");
  REQUIRE(given.model);
  CHECK_FALSE(given.model->equalSizes.empty());
}

TEST_CASE("a part of one size that another one tells bounds neither, and runs compare them") {
  OnnxMaker m(18);
  m.input("x", {"n", "4"}).input("v", {"h"}).ints("two", {1}, {2}).output("y").output("z");
  m.node("Shape", {"x"}, {"s"}), m.node("Shape", {"v"}, {"h_"}), m.node("Div", {"h_", "two"}, {"first"});
  m.ints("zero", {1}, {0}), m.node("Gather", {"s", "zero"}, {"n_"}), m.node("Sub", {"n_", "first"}, {"rest"});
  addAttribute(m.node("Concat", {"first", "rest"}, {"parts"}), "axis", int64_t{0});
  addAttribute(m.node("Split", {"x", "parts"}, {"y", "z"}), "axis", int64_t{0});
  const OnnxImport import = m.import();
  CHECK(variablesOf(import) == "n [1, 1048576] h [1, 1048576]");
  REQUIRE(import.model);
  CHECK_FALSE(import.model->equalSizes.empty());
}

TEST_CASE("dims without names that products, joins and reshapes bring together are one") {
  OnnxMaker m;
  m.input("a", {"?", "k", "8"}).input("b", {"?", "8", "?"}).input("c", {"n", "5", "w"}).output("y").output("z");
  for (proto::ValueInfoProto& input : *m.model.mutable_graph()->mutable_input())
    for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (dim.dim_param() == "?") dim.clear_value();
  m.node("MatMul", {"a", "b"}, {"p"});
  addAttribute(m.node("Concat", {"p", "c"}, {"y"}), "axis", int64_t{1});
  m.node("Neg", {"c"}, {"z"});
  const OnnxImport import = m.import();
  CHECK(inputsOf(import) == "f32[a.0,k,8] f32[a.0,8,b.2] f32[a.0,5,b.2]");
}

TEST_CASE("the sizes of a kernel are those that a convolution lists") {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    OnnxMaker m;
    m.input("x", {"n", "4", "h"}).input("w", {"4", "4", "taps"}).output("y");
    addAttribute(m.node(op, {"x", "w"}, {"y"}), "kernel_shape", std::vector<int64_t>{3});
    CHECK(inputsOf(m.import()) == "f32[n,4,h] f32[4,4,3]");
  }
}

TEST_CASE("a dim is the sum of two others where the model says so") {
  OnnxMaker m;
  m.input("p", {"batch", "past", "4"}).input("x", {"batch", "seq", "4"}).input("mask", {"batch2", "total", "4"});
  m.output("y");
  addAttribute(m.node("Concat", {"p", "x"}, {"all"}), "axis", int64_t{1});
  m.node("Add", {"all", "mask"}, {"y"});
  const OnnxImport import = m.import();
  REQUIRE(import.model);
  CHECK(import.model->variables.size() == 3);
  notes(import, "'total' is taken for past + seq");
  notes(import, "'batch2' is taken for batch");
}

TEST_CASE("a sum of dims that a cut asks for bounds none of them") {
  OnnxMaker m;
  m.input("p", {"past", "2"}).input("x", {"seq", "2"}).input("mask", {"total", "2"}).output("y").output("z");
  m.ints("zero", {1}, {0}).ints("one", {1}, {1}).ints("all", {1}, {1 << 30});
  m.node("Shape", {"p"}, {"shape"});
  m.node("Slice", {"shape", "zero", "one"}, {"length"});
  m.node("Slice", {"mask", "length", "all", "zero"}, {"rest"});
  m.node("Add", {"x", "rest"}, {"y"});
  m.node("Neg", {"p"}, {"z"});
  const OnnxImport import = m.import();
  CHECK(variablesOf(import) == "past [1, 1048576] seq [1, 1048576]");
  notes(import, "'total' is taken for past + seq");
}

TEST_CASE("a table that is cut to the length of an input bounds it") {
  OnnxMaker m;
  m.input("x", {"seq", "2"}).output("y").floats("table", {32, 2}, std::vector<float>(64, 0.5f));
  m.ints("zero", {1}, {0}).ints("one", {1}, {1});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Slice", {"shape", "zero", "one"}, {"length"});
  m.node("Slice", {"table", "zero", "length", "zero"}, {"rows"});
  m.node("Add", {"x", "rows"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(variablesOf(import) == "seq [1, 32]");
  notes(import, "'seq' is taken to be 1 to 32");
  CHECK(variablesOf(m.import(withVariables({"seq=4:20"}))) == "seq [4, 20]");
  CHECK(variablesOf(m.import(withVariables({"seq=4:40"}))) == "seq [4, 40]");
}

TEST_CASE("a table that is read at counted positions bounds the count") {
  OnnxMaker m;
  m.input("x", {"seq", "2"}).output("y");
  std::vector<float> rows;
  for (int i = 0; i < 48; ++i) rows.push_back(static_cast<float>(i));
  m.floats("table", {24, 2}, rows)
      .ints("start", {}, {0})
      .ints("step", {}, {1})
      .ints("zero", {}, {0})
      .ints("two", {}, {2});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "zero"}, {"length"});
  m.node("Range", {"start", "length", "step"}, {"count"});
  m.node("Add", {"count", "two"}, {"positions"});
  m.node("Gather", {"table", "positions"}, {"at"});
  m.node("Add", {"x", "at"}, {"y"});
  CHECK(variablesOf(m.import()) == "seq [1, 22]");
  // What is given stays, and is no error: rows that are not there are zeros.
  CHECK(variablesOf(m.import(withVariables({"seq=1:100"}))) == "seq [1, 100]");
}

TEST_CASE("sizes that could be negative bound the variables in them") {
  for (const auto& [kernel, want] : std::vector<std::pair<int64_t, std::string>>{
           {10, "n [10, 67108864]"}, {400, "n [400, 67108864]"}, {1, "n [1, 67108864]"}}) {
    OnnxMaker m;
    m.input("x", {"1", "1", "n"}).output("y");
    m.floats("w", {1, 1, kernel}, std::vector<float>(static_cast<size_t>(kernel), 1.0f));
    m.node("Conv", {"x", "w"}, {"y"});
    const OnnxImport import = m.import();
    CHECK(variablesOf(import) == want);
    if (kernel == 10) {
      notes(import, "'n' is taken to be 10 to 67108864: Conv (opset 17)");
      CHECK(inputsOf(m.import(withVariables({"n=1:64"}))).find("--var n=10:64") != std::string::npos);
    }
  }
}

TEST_CASE("default bounds leave every value addresses, and every variable a share of them") {
  OnnxMaker m;  // every pixel with every other one
  m.input("x", {"batch", "height", "width"}).output("y").ints("rows", {3}, {0, -1, 1}).ints("columns", {3}, {0, 1, -1});
  m.node("Reshape", {"x", "rows"}, {"r"});
  m.node("Reshape", {"x", "columns"}, {"c"});
  m.node("Sub", {"r", "c"}, {"y"}).set_name("pairs");
  const OnnxImport import = m.import();
  CHECK(variablesOf(import) == "batch [1, 16] height [1, 1024] width [1, 1024]");
  notes(import, "the size of 'height', 'width' may be 1 to 1024 in a run");
  CHECK(variablesOf(m.import(withVariables({"width=1:16384"}))) == "batch [1, 2] height [1, 128] width [1, 16384]");
}

TEST_CASE("a value that is large because nothing shows how its sizes depend on each other has addresses too") {
  OnnxMaker m;  // mask.view(b, -1), for each row of x
  m.input("x", {"b", "n"}).input("mask", {"c", "m"}).output("y").ints("rest", {1}, {-1});
  m.ints("zero", {1}, {0}).ints("one", {1}, {1}).ints("two", {1}, {2}).node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "zero"}, {"b"}), m.node("Gather", {"shape", "one"}, {"n"});
  const auto join = [&](const std::vector<std::string>& parts, const std::string& to) {
    addAttribute(m.node("Concat", parts, {to}), "axis", int64_t{0});
  };
  join({"b", "rest"}, "to"), m.node("Reshape", {"mask", "to"}, {"rows"}),
      m.node("Unsqueeze", {"rows", "one"}, {"keys"});
  m.node("Size", {"mask"}, {"all"}), m.node("Div", {"all", "b"}, {"each"});
  join({"b", "n", "each"}, "wide"), m.node("Expand", {"keys", "wide"}, {"added"});
  m.node("Unsqueeze", {"x", "two"}, {"q"}), m.node("Unsqueeze", {"x", "one"}, {"k"}), m.node("Mul", {"q", "k"}, {"qk"});
  m.node("Add", {"qk", "added"}, {"y"});
  CHECK(variablesOf(m.import(withVariables({"n=1:64"}))) == "b [1, 8192] n [1, 64] c [1, 8192] m [1, 524288]");
}

TEST_CASE("sizes that pass 2^60 at usual bounds are smaller") {
  OnnxMaker m;
  m.input("x", {"a", "b", "c", "d"}).output("y").ints("rows", {2}, {-1, 1}).ints("columns", {2}, {1, -1});
  m.node("Reshape", {"x", "rows"}, {"r"});
  m.node("Reshape", {"x", "columns"}, {"c"});
  m.node("Sub", {"r", "c"}, {"y"}).set_name("pairs");
  const OnnxImport import = m.import();
  CHECK(variablesOf(import) == "a [1, 2] b [1, 128] c [1, 128] d [1, 128]");
  notes(import, "the size of 'b', 'c', 'd' may be 1 to 128 in a run");
  CHECK(inputsOf(m.import(withVariables({"a=1:512", "b=1:512", "c=1:512", "d=1:512"}))).find("too many elements") !=
        std::string::npos);

  OnnxMaker size;  // an input and one size that are products
  size.input("x", {"a", "b", "c", "d", "e", "f", "g"}).output("y").ints("all", {1}, {-1});
  size.node("Reshape", {"x", "all"}, {"y"});
  const OnnxImport sizes = size.import();
  CHECK(variablesOf(sizes) == "a [1, 2] b [1, 128] c [1, 128] d [1, 128] e [1, 128] f [1, 128] g [1, 256]");
  notes(sizes, "the size of 'g' may be 1 to 256 in a run");
}

TEST_CASE("a size may have a greatest value beside a large least one") {
  OnnxMaker m;
  m.input("x", {"1", "1", "n"}).output("y").output("z");
  m.floats("w", {1, 1, 105}, std::vector<float>(105, 1.0f)).floats("table", {300, 2}, std::vector<float>(600, 1.0f));
  m.ints("zero", {1}, {0}).ints("two", {1}, {2}).ints("three", {1}, {3});
  m.node("Conv", {"x", "w"}, {"y"});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Slice", {"shape", "two", "three"}, {"length"});
  m.node("Slice", {"table", "zero", "length", "zero"}, {"rows"});
  m.node("Transpose", {"rows"}, {"columns"});
  m.node("Add", {"x", "columns"}, {"z"});
  CHECK(variablesOf(m.import()) == "n [105, 300]");
}

TEST_CASE("parts of any number of sizes are joined") {
  OnnxMaker m;
  OnnxMaker::Names parts;
  for (int i = 0; i < 100; ++i) {
    parts.push_back("x" + std::to_string(i));
    m.input(parts.back(), {"n" + std::to_string(i), "2"});
  }
  m.output("y");
  addAttribute(m.node("Concat", parts, {"c"}), "axis", int64_t{0});
  m.node("Neg", {"c"}, {"d"});
  m.node("Add", {"c", "d"}, {"y"});
  const OnnxImport import = m.import();
  INFO((import.model ? "" : toText(import.model.error())));
  CHECK(import.model);
  CHECK(import.errors.empty());
}

namespace {

LoadOptions withShape(const std::string& text, LoadOptions options = {}) {
  options.shapes.push_back(parseShapeOption(text).value());
  return options;
}

/// y = -x, where the first dim of x is set by `dim`.
OnnxMaker negated(const std::function<void(proto::TensorShapeProto_Dimension&)>& dim) {
  OnnxMaker m;
  m.input("x", {"n", "3"}).output("y");
  dim(*m.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(
      0));
  m.node("Neg", {"x"}, {"y"});
  return m;
}

}  // namespace

TEST_CASE("dims without a name get one, and options may use it or give another") {
  const std::vector<std::function<void(proto::TensorShapeProto_Dimension&)>> marks = {
      [](auto& dim) { dim.set_dim_value(-1); },
      [](auto& dim) { dim.set_dim_value(-7); },
      [](auto& dim) { dim.set_dim_param(""); },
      [](auto& dim) { dim.set_dim_param("?"); },
      [](auto& dim) { dim.set_dim_param("-1"); },
      [](auto& dim) { dim.set_dim_param("  "); },
      [](auto& dim) { dim.Clear(); },
  };
  for (const auto& mark : marks) {
    const OnnxMaker m = negated(mark);
    CHECK(inputsOf(m.import()) == "f32[x.0,3]");
    CHECK(variablesOf(m.import()) == "x.0 [1, 1048576]");
    CHECK(variablesOf(m.import(withVariables({"x.0=2:9"}))) == "x.0 [2, 9]");
    CHECK(inputsOf(m.import(withVariables({"x.0=4"}))) == "f32[4,3]");
    CHECK(inputsOf(m.import(withShape("x=nx3"))) == "f32[n,3]");
    CHECK(variablesOf(m.import(withShape("x=nx3"))) == "n [1, 1048576]");
    CHECK(variablesOf(m.import(withShape("x=nx3", withVariables({"n=5:6"})))) == "n [5, 6]");
    CHECK(inputsOf(m.import(withShape("x=8x3"))) == "f32[8,3]");
    CHECK(inputsOf(m.import(withShape("x=2*kx3", withVariables({"k=1:4"})))) == "f32[k*2,3]");
  }
  // A name that only looks like a mark stays one.
  CHECK(inputsOf(negated([](auto& dim) { dim.set_dim_param("-n"); }).import()) == "f32[\"-n\",3]");
}

TEST_CASE("an input without a shape and a result of a host function have the sizes of --shape") {
  OnnxMaker m;
  m.input("x", {}).output("y");
  m.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  m.node("Neg", {"x"}, {"y"});
  CHECK(variablesOf(m.import(withShape("x=nx3"))) == "n [1, 1048576]");
  CHECK(variablesOf(m.import(withShape("x=nx3", withVariables({"n=0:4"})))) == "n [0, 4]");
  CHECK(inputsOf(m.import(withShape("x=n+1xm"))) == "f32[n + 1,m]");

  OnnxMaker host;
  host.input("x", {"4"}).output("y");
  host.node("Grow", {"x"}, {"g"}).set_domain("my");
  proto::OperatorSetIdProto& opset = *host.model.add_opset_import();
  opset.set_domain("my"), opset.set_version(1);
  host.node("Neg", {"g"}, {"y"});
  LoadOptions options = withShape("g=rx3");
  options.hostOps.push_back(parseHostOpOption("my:Grow=f32").value());
  CHECK(variablesOf(host.import(options)) == "r [1, 1048576]");
  options.variables.push_back(parseVariableOption("r=3:5").value());
  CHECK(variablesOf(host.import(options)) == "r [3, 5]");
}

TEST_CASE("a dim that is named like an input is a size of its own") {
  OnnxMaker m;
  m.input("x", {"b", "t"}).input("t", {"b", "1"}).output("y");
  m.node("Add", {"x", "t"}, {"y"});
  CHECK(inputsOf(m.import()) == "f32[b,t.size] f32[b,1]");
  // Options may use either name, in sizes as well.
  for (const char* option : {"t=2:9", "t.size=2:9"})
    CHECK(variablesOf(m.import(withVariables({option}))) == "b [1, 1048576] t.size [2, 9]");
  CHECK(inputsOf(m.import(withVariables({"b=t"}))) == "f32[t.size,t.size] f32[t.size,1]");
  CHECK(inputsOf(m.import(withShape("x=5xt"))) == "f32[5,t.size] f32[5,1]");
  CHECK(m.convert());

  OnnxMaker both;
  both.input("x", {"t", "t.size"}).input("t", {"1"}).output("y");
  both.node("Add", {"x", "t"}, {"y"});
  CHECK(inputsOf(both.import()) == "f32[t.size.size,t.size] f32[1]");
}

TEST_CASE("sizes that an op forces lie beyond the bounds that nobody gave") {
  OnnxMaker m;
  m.input("x", {"n", "k"}).output("y").floats("w", {600, 3}, std::vector<float>(1800, 0.5f));
  m.node("MatMul", {"x", "w"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(inputsOf(import) == "f32[n,600]");
  notes(import, "'k' is taken for 600: MatMul (opset 17)");
  // Bounds that somebody gave are a reason to refuse the model.
  CHECK(inputsOf(m.import(withVariables({"k=1:512"}))).find("shape-mismatch") != std::string::npos);
  CHECK(inputsOf(m.import(withVariables({"k=1:1000"}))) == "f32[n,k]");

  OnnxMaker both;  // two that disagree
  both.input("x", {"k", "n"}).output("z").floats("v", {600}, std::vector<float>(600, 0.5f));
  both.floats("w", {700}, std::vector<float>(700, 0.5f));
  both.node("Add", {"x", "v"}, {"s"});
  both.node("Add", {"s", "w"}, {"z"});
  CHECK(inputsOf(both.import()).find("shape-mismatch") != std::string::npos);
}

TEST_CASE("what windows go along is likely as large as images, frames and samples are") {
  const auto window = [](const OnnxMaker::Names& dims, std::vector<int64_t> filter, int64_t pad) {
    OnnxMaker m;
    m.input("x", dims).output("y");
    const int64_t count = std::accumulate(filter.begin(), filter.end(), int64_t{1}, std::multiplies<>());
    m.floats("w", filter, std::vector<float>(static_cast<size_t>(count), 0.5f));
    proto::NodeProto& node = m.node("Conv", {"x", "w"}, {"y"});
    addAttribute(node, "pads", std::vector<int64_t>(2 * (filter.size() - 2), pad));
    return m;
  };
  const OnnxMaker image = window({"n", "3", "h", "w"}, {8, 3, 3, 3}, 1);
  CHECK(variablesOf(image.import()) == "n [1, 512] h [1, 65536] w [1, 65536]");
  CHECK(likelyOf(image.import()) == "1 224 224");
  CHECK(likelyOf(image.import(withVariables({"h=1:64"}))) == "1 64 224");
  CHECK(likelyOf(window({"n", "4", "t"}, {8, 4, 3}, 1).import()) == "1 256");
  CHECK(likelyOf(window({"n", "1", "t"}, {8, 1, 3}, 1).import()) == "1 16000");
  // What the op needs at least is found as well.
  CHECK(variablesOf(window({"n", "1", "t"}, {8, 1, 400}, 0).import()) == "n [1, 32768] t [400, 67108864]");
  CHECK(likelyOf(window({"n", "4", "1", "t"}, {8, 4, 1, 3}, 1).import()) == "1 256");
}

TEST_CASE("sound is likely to come in pieces where the model returns the next value of an input") {
  const auto listener = [](const OnnxMaker::Names& state, const std::string& channels) {
    OnnxMaker m;
    m.input("x", {"b", channels, "t"}).input("state", state).output("y").output("next");
    const int64_t count = std::stoll(channels);
    m.floats("w", {8, count, 3}, std::vector<float>(static_cast<size_t>(8 * count * 3), 0.5f));
    m.floats("half", {1}, {0.5f});
    m.node("Conv", {"x", "w"}, {"y"});
    m.node("Mul", {"state", "half"}, {"next"});
    return likelyOf(m.import());
  };
  CHECK(listener({"2", "b", "128"}, "1") == "1 512");
  CHECK(listener({"2", "b", "128"}, "4") == "1 16");
  CHECK(listener({"2", "b.state", "128"}, "1") == "1 512 1");
  // What windows go along, and what has one element, is no state.
  CHECK(listener({"b", "2", "t"}, "1") == "1 16000");
  CHECK(listener({"b", "1"}, "1") == "1 16000");
}

TEST_CASE("what is sorted is short, also where a run tells its length") {
  OnnxMaker plain(11);
  plain.input("x", {"n", "c"}).output("y").output("places", 7).ints("k", {1}, {200});
  plain.node("TopK", {"x", "k"}, {"y", "places"});
  CHECK(variablesOf(plain.import()) == "n [1, 1048576] c [200, 2048]");
  CHECK(variablesOf(plain.import(withVariables({"c=200:4000"}))) == "n [1, 1048576] c [200, 4000]");

  OnnxMaker counted(11);
  counted.input("x", {"n"}).output("y", 7).output("places", 7).ints("all", {1}, {-1}).ints("k", {1}, {200});
  counted.node("NonZero", {"x"}, {"at"}), counted.node("Reshape", {"at", "all"}, {"flat"});
  counted.node("TopK", {"flat", "k"}, {"y", "places"});
  CHECK(variablesOf(counted.import()) == "n [1, 512]");
}

TEST_CASE("an axis that windows go along is as long as its sizes leave room for") {
  OnnxMaker m;
  m.input("x", {"n", "m"}).output("y").ints("one", {3}, {1, 1, -1}).node("Reshape", {"x", "one"}, {"flat"});
  OnnxMaker same = m;
  addAttribute(m.node("MaxPool", {"flat"}, {"y"}), "kernel_shape", std::vector<int64_t>{2});
  CHECK(variablesOf(m.import()) == "n [1, 512] m [1, 4194304]");
  proto::NodeProto& padded = same.node("AveragePool", {"flat"}, {"y"});
  addAttribute(padded, "kernel_shape", std::vector<int64_t>{2}),
      addAttribute(padded, "strides", std::vector<int64_t>{2});
  addAttribute(padded, "auto_pad", std::string("SAME_LOWER"));
  CHECK(variablesOf(same.import()) == "n [1, 512] m [1, 4194304]");
  const std::string said = inputsOf(m.import(withVariables({"n=2:1000000", "m=2:1000000"})));
  CHECK(said.find("is too long for windows [too-large]") != std::string::npos);
  CHECK(said.find("at most 2147483648 elements; these bounds are tight enough: --var") != std::string::npos);
}

TEST_CASE("where the lesser of two sizes counts, both are large enough") {
  OnnxMaker m;  // windows of 4 of the first k elements of n
  m.input("x", {"1", "1", "n"}).input("z", {"k"}).output("y").ints("from", {1}, {0}).ints("axis", {1}, {2});
  m.node("Shape", {"z"}, {"k_"}), m.node("Slice", {"x", "from", "k_", "axis"}, {"some"});
  addAttribute(m.node("MaxPool", {"some"}, {"y"}), "kernel_shape", std::vector<int64_t>{4});
  CHECK(variablesOf(m.import()).find("n [4, ") != std::string::npos);
  CHECK(variablesOf(m.import()).find("k [4, ") != std::string::npos);
  const std::string said = inputsOf(m.import(withVariables({"n=1:100", "k=1:100"})));
  CHECK(said.find("tighter bounds keep it above 0: --var k=4:100 --var n=4:100") != std::string::npos);
}

TEST_CASE("what a run counts has room at the usual sizes, and given ones that leave none are told with some that do") {
  OnnxMaker m;
  m.input("x", {"n", "m", "8"}).output("y", 7).node("NonZero", {"x"}, {"y"});
  CHECK(variablesOf(m.import()) == "n [1, 262144] m [1, 1048576]");
  const std::string said = inputsOf(m.import(withVariables({"n=1:2000000", "m=1:2000000"})));
  CHECK(said.find("at most 2^46 bytes; these bounds are tight enough: --var") != std::string::npos);
  const std::string wide = inputsOf(m.import(withVariables({"n=1:4000000000", "m=1:4000000000"})));
  CHECK(wide.find("at the largest values of the variables; these bounds are tight enough: --var") != std::string::npos);
}
