// What the command line can change about a graph, and how weight files reach the model.
#include <catch2/catch.hpp>
#include <cstring>

#include "common/temp_folder.h"
#include "data/npy.h"
#include "frontend/frontend.h"
#include "ir/text.h"

using namespace svod;

namespace {

constexpr std::string_view kGraph = R"(svod 1
var n in [1, 64]
var m in [1, 8]
input x: f32[n, m, 2]
input k: f32[n]
output y = sum(x, axes=2) * unsqueeze(k, axes=1) + n
)";

Model build(const LoadOptions& options, std::string_view text = kGraph, const std::string& path = "graph.svod") {
  Result<GraphFile> file = parseGraph(text, path);
  if (!file) FAIL(toText(file.error()));
  Result<Model> model = buildModel(*file, options);
  if (!model) FAIL(toText(model.error()));
  return std::move(*model);
}

std::string typeOf(const Model& model, std::string_view port) {
  for (const ModelPort& p : model.ports)
    if (p.name == port) return toTypeText(p.buffer);
  return "none";
}

LoadOptions withVariables(std::initializer_list<const char*> texts) {
  LoadOptions options;
  for (const char* text : texts) options.variables.push_back(parseVariableOption(text).value());
  return options;
}

void writeFloats(const std::string& path, std::vector<uint64_t> shape, std::vector<float> values) {
  REQUIRE(writeNpy(path, ElementType::F32, shape, std::as_bytes(std::span(values))).has_value());
}

}  // namespace

TEST_CASE("variables take other bounds or one value") {
  Model plain = build({});
  CHECK(plain.variables.size() == 2);
  CHECK(typeOf(plain, "x") == "f32[n,m,2]");

  Model bounded = build(withVariables({"n=2:1000"}));
  CHECK(bounded.variables[0].bounds().max == 1000);
  CHECK(bounded.variables[0].bounds().min == 2);

  Model bound = build(withVariables({"n=8"}));
  REQUIRE(bound.variables.size() == 1);
  CHECK(bound.variables[0].argAs<VarArg>().name == "m");
  CHECK(typeOf(bound, "x") == "f32[8,m,2]");
  CHECK(typeOf(bound, "y") == "f32[8,m]");
}

TEST_CASE("a variable has a likely value: the usual one, that of the graph, or that of an option") {
  const auto likely = [](const Model& model) { return model.variables[0].argAs<VarArg>().likely; };
  CHECK(likely(build({})) == 64);
  CHECK(likely(build(withVariables({"n=2:9"}))) == 9);
  CHECK(likely(build(withVariables({"n=100:900"}))) == 100);
  CHECK(likely(build(withVariables({"n=1:1000~8"}))) == 8);
  CHECK(likely(build(withVariables({"n=~8"}))) == 8);
  constexpr std::string_view kText = "svod 1\nvar n in [1, 512] ~ 7\ninput x: f32[n]\noutput y = x\n";
  CHECK(likely(build({}, kText)) == 7);
  CHECK(likely(build(withVariables({"n=1:4"}), kText)) == 4);
  CHECK(likely(build(withVariables({"n=8*u", "u=1:64", "n=~56"}))) == 7);
  for (const char* text : {"n=~", "n=~x", "n=8~8", "n=1:4~5", "n=8*k~8"}) {
    INFO(text);
    CHECK(parseVariableOption(text).error()->diag == Diag::Usage);
  }
}

TEST_CASE("the shape of an input binds the variables in it") {
  LoadOptions options;
  options.shapes.push_back(parseShapeOption("x=5x3x2").value());
  options.shapes.push_back(parseShapeOption("k=5").value());
  Model model = build(options);
  CHECK(model.variables.empty());
  CHECK(typeOf(model, "y") == "f32[5,3]");
}

TEST_CASE("a variable is a size over others, existing or new") {
  Model one = build(withVariables({"m=n"}));
  CHECK(one.variables.size() == 1);
  CHECK(typeOf(one, "x") == "f32[n,n,2]");
  CHECK(one.variables[0].bounds() == Interval{1, 8});

  Model multiple = build(withVariables({"n=8*i"}));
  CHECK(typeOf(multiple, "x") == "f32[i*8,m,2]");
  CHECK(multiple.variables[0].argAs<VarArg>().name == "i");
  CHECK(multiple.variables[0].bounds() == Interval{1, 8});
  CHECK(build(withVariables({"n=8*i", "i=2:100"})).variables[0].bounds() == Interval{2, 8});
  CHECK(typeOf(build(withVariables({"n=8*i", "i=3"})), "x") == "f32[24,m,2]");
  CHECK(typeOf(build(withVariables({"n=8*i", "n=24"})), "k") == "f32[24]");
  CHECK(typeOf(build(withVariables({"n=m+2"})), "x") == "f32[m + 2,m,2]");

  LoadOptions shaped;
  shaped.shapes.push_back(parseShapeOption("x=8*jx2*jx2").value());
  Model both = build(shaped);
  REQUIRE(both.variables.size() == 1);
  CHECK(both.variables[0].bounds() == Interval{1, 4});
  CHECK(typeOf(both, "x") == "f32[j*8,j*2,2]");
  shaped.shapes = {parseShapeOption("x=rows,2,2").value()};
  CHECK(typeOf(build(shaped), "x") == "f32[rows,2,2]");
}

TEST_CASE("the shape of an input binds the variables inside of its dims") {
  constexpr std::string_view kText = "svod 1\nvar n in [1, 64]\ninput x: f32[2*n + 1]\noutput y = x\n";
  LoadOptions options;
  options.shapes.push_back(parseShapeOption("x=9").value());
  CHECK(typeOf(build(options, kText), "x") == "f32[9]");
}

TEST_CASE("a constant takes the place of an input and binds its variables") {
  TempFolder folder;
  writeFloats(folder / "k.npy", {3}, {1, 2, 3});
  LoadOptions options;
  options.constants.emplace_back("k", folder / "k.npy");
  Model model = build(options);
  CHECK(typeOf(model, "x") == "f32[3,m,2]");
  REQUIRE(model.ports[1].kind == PortKind::Weight);
  CHECK(model.ports[1].data.bytes == 12);
}

TEST_CASE("weight files are found beside the graph and stay mapped") {
  TempFolder folder;
  writeFloats(folder / "w.npy", {2, 2}, {1, 2, 3, 4});
  Model model = build({}, "svod 1\nweight w: f32[2, 2] = \"w.npy\"\nstate s: f32[2, 2] = \"w.npy\"\noutput y = w + s\n",
                      folder / "graph.svod");
  for (size_t i = 0; i < 2; ++i) {
    float values[4];
    REQUIRE(model.ports[i].data.bytes == sizeof values);
    CHECK(model.ports[i].data.owner != nullptr);
    std::memcpy(values, model.ports[i].data.data, sizeof values);
    CHECK(values[3] == 4);
  }
}

TEST_CASE("inline data takes the declared dtype") {
  Model model = build({}, R"(svod 1
weight a: f16[2] = [1, -0.5]
weight b: u8[2, 1] = [[255], [0]]
weight c: bool[2] = [true, false]
weight d: u64 = 18446744073709551615
weight e: i16[3] = -2
weight f: f32[0, 4] = []
state s: i32[2]
output ya = a
output yb = b
output yc = c
output yd = d
output ye = e
output yf = f
output ys = s
)");
  auto bytes = [&](size_t i) {
    const ConstData& data = model.ports[i].data;
    std::string text;
    for (size_t b = 0; b < data.bytes; ++b) text += std::to_string(static_cast<int>(data.data[b])) + " ";
    return text;
  };
  CHECK(bytes(0) == "0 60 0 184 ");
  CHECK(bytes(1) == "255 0 ");
  CHECK(bytes(2) == "1 0 ");
  CHECK(bytes(3) == "255 255 255 255 255 255 255 255 ");
  CHECK(bytes(4) == "254 255 254 255 254 255 ");
  CHECK(bytes(5).empty());
  CHECK(model.ports[6].data.bytes == 0);
}
