// Models that are refused say for which sizes they are taken.
#include <catch2/catch.hpp>

#include "onnx_maker.h"

using namespace svod;

namespace {

constexpr int kInt64 = 7;

// y is the first `count` of x[n], as one row of one channel.
OnnxMaker beginning() {
  OnnxMaker m;
  m.input("x", {"n"}).input("count", {"1"}, kInt64).output("y");
  m.ints("zero", {1}, {0}).ints("row", {3}, {1, 1, -1});
  m.node("Slice", {"x", "zero", "count"}, {"first"});
  m.node("Reshape", {"first", "row"}, {"signal"});
  addAttribute(m.node("MaxPool", {"signal"}, {"y"}), "kernel_shape", std::vector<int64_t>{3});
  return m;
}

// A loop of `depth` loops within each other, each of as many steps as x[rows, 2] has rows. The innermost step puts x in
// front of what there is.
void addSteps(google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes, int depth, const std::string& from,
              const std::string& to) {
  if (depth == 0) {
    addNode(nodes, "Concat", {"x", from}, {to});
    return addAttribute(*nodes.rbegin(), "axis", int64_t{0});
  }
  addNode(nodes, "Loop", {"count", "", from}, {to});
  const std::string s = from + std::to_string(depth), t = to + std::to_string(depth), on = "on" + s;
  proto::GraphProto& body = addGraph(*nodes.rbegin(), "body", {"i" + s, on, s}, {on, t});
  addSteps(*body.mutable_node(), depth - 1, s, t);
}

OnnxMaker growing(int depth = 1) {
  OnnxMaker m;
  m.input("x", {"rows", "2"}).output("y").ints("zero", {}, {0});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "zero"}, {"count"});
  addSteps(*m.model.mutable_graph()->mutable_node(), depth, "x", "y");
  return m;
}

// [2, 2 * n] + [n], which only n = 1 broadcasts.
OnnxMaker stretching() {
  OnnxMaker m;
  m.input("x", {"n", "2"}).input("w", {"n"}).output("y");
  addAttribute(m.node("Concat", {"x", "x"}, {"twice"}), "axis", int64_t{0});
  m.node("Transpose", {"twice"}, {"rows"});
  m.node("Add", {"rows", "w"}, {"y"});
  return m;
}

// [2h, 2w] + [h - 63, w - 63] behind a thousand nodes and more, which only h = w = 64 broadcasts.
OnnxMaker deep() {
  OnnxMaker m;
  m.input("x", {"h", "w"}).output("y").ints("from", {2}, {63, 63}).ints("to", {2}, {1'000'000, 1'000'000});
  std::string last = "x";
  for (int i = 0; i < 1500; ++i) {
    const std::string next = "x" + std::to_string(i);
    m.node("Relu", {last}, {next});
    last = next;
  }
  m.node("Slice", {last, "from", "to"}, {"end"});
  addAttribute(m.node("Concat", {last, last}, {"tall"}), "axis", int64_t{0});
  addAttribute(m.node("Concat", {"tall", "tall"}, {"large"}), "axis", int64_t{1});
  m.node("Add", {"large", "end"}, {"y"});
  return m;
}

std::string helpOf(const OnnxImport& import) { return import.errors.empty() ? "" : import.errors[0]->help; }

bool isTakenWith(const OnnxMaker& m, const char* variable) {
  LoadOptions options;
  options.variables = {parseVariableOption(variable).value()};
  return m.import(options).errors.empty();
}

}  // namespace

TEST_CASE("a refusal names the size with which the model is taken") {
  CHECK_THAT(helpOf(beginning().import()), Catch::EndsWith("; the model is taken with one size: --var count.0=SIZE"));
  CHECK(isTakenWith(beginning(), "count.0=5"));
  CHECK_THAT(helpOf(growing().import()), Catch::EndsWith("; the model is taken with one size: --var rows=SIZE"));
  CHECK(isTakenWith(growing(), "rows=5"));
  CHECK_THAT(helpOf(stretching().import()), Catch::EndsWith("; the model is taken with --var n=1"));
  CHECK(isTakenWith(stretching(), "n=1"));
}

TEST_CASE("a long model that only a size of images fits names it") {
  CHECK_THAT(helpOf(deep().import()), Catch::EndsWith("; the model is taken with --var h=64 --var w=64"));
}

TEST_CASE("a refusal names no size where none helps, or where an option bounds it") {
  OnnxMaker m;
  m.input("x", {"n", "3"}).input("w", {"4"}).output("y");
  m.node("Add", {"x", "w"}, {"y"});
  CHECK_THAT(helpOf(m.import()), !Catch::Contains("--var"));
  LoadOptions bounded;
  bounded.variables = {parseVariableOption("n=1:64").value()};
  CHECK_THAT(helpOf(stretching().import(bounded)), !Catch::Contains("is taken"));
}

TEST_CASE("sizes with which a model is long are not tried where small ones do") {
  CHECK_THAT(helpOf(growing(7).import()), Catch::EndsWith("; the model is taken with one size: --var rows=SIZE"));
}

TEST_CASE("a conversion names the size too") {
  const Result<WrittenModel> written = stretching().convert();
  REQUIRE(!written);
  CHECK_THAT(written.error()->help, Catch::EndsWith("; the model is taken with --var n=1"));
}
