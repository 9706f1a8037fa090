// Squeeze without axes and branches with different ranks: a plan is for one case, and never wrong in the other.
#include <catch2/catch.hpp>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

using Names = OnnxMaker::Names;

LoadOptions bounded(const std::string& text) {
  LoadOptions options;
  options.variables.push_back(*parseVariableOption(text));
  return options;
}

bool says(const std::vector<Error>& errors, const std::string& text) {
  return std::ranges::any_of(errors, [&](const Error& e) { return toText(e).find(text) != std::string::npos; });
}

UOp variableOf(const OnnxImport& import) { return import.model->variables.at(0); }

// What a run with an input of these elements ends with; "" where it gives outputs.
std::string failureOf(const OnnxImport& import, VariableValues variables, const HostTensor& first) {
  REQUIRE(import.model);
  ModelBindings bindings = bindingsOf(*import.model, std::move(variables));
  bindings.ports[0] = first;
  const auto ports = interpret(*import.model, bindings);
  return ports ? "" : toText(ports.error());
}

/// x is [n, 1, 4], and the branches of an If drop axis 1, or nothing.
OnnxMaker branches(const std::string& other) {
  OnnxMaker m;
  m.input("x", {"n", "1", "4"}).input("c", {}, 9).ints("axis", {1}, {1}).output("y");
  proto::NodeProto& node = m.node("If", {"c"}, {"t"});
  addNode(*addGraph(node, "then_branch", {}, {"s"}).mutable_node(), "Squeeze", {"x", "axis"}, {"s"});
  addNode(*addGraph(node, "else_branch", {}, {"e"}).mutable_node(), other, {"x"}, {"e"});
  return m;
}

}  // namespace

TEST_CASE("Squeeze keeps sizes that nobody bounded from being 1") {
  OnnxMaker m;
  m.input("x", {"n", "1", "4"}).output("y").node("Squeeze", {"x"}, {"y"});
  const OnnxImport free = m.import();
  REQUIRE(free.model);
  CHECK(variableOf(free).bounds().min == 2);
  CHECK(says(free.notes, "does not have size 1, needs it"));
  CHECK(run(free, {{"n", 3}}).dims == std::vector<int64_t>{3, 4});
  for (const char* option : {"n=1", "n=1:1"})
    CHECK(run(m.import(bounded(option)), {{"n", 1}}).dims == std::vector<int64_t>{4});
}

TEST_CASE("the rank that an output is declared with decides whether a size is 1") {
  auto squeezed = [](const std::vector<int64_t>& declared) {
    OnnxMaker m;
    m.input("x", {"n", "1", "4"}).shapedOutput("y", declared);
    m.node("Squeeze", {"x"}, {"s"}), m.node("Abs", {"s"}, {"y"});
    return m;
  };
  const OnnxImport one = squeezed({-1}).import(), several = squeezed({-1, 4}).import();
  CHECK(run(one) == f32({4}, {0, 1, 2, 3}));
  CHECK(says(one.notes, "'n' is taken for 1"));
  CHECK(run(several, {{"n", 3}}).dims == std::vector<int64_t>{3, 4});
  CHECK(variableOf(several).bounds().min == 2);
  const OnnxImport neither = squeezed({-1, -1, -1}).import();  // the usual case
  CHECK(run(neither, {{"n", 3}}).dims == std::vector<int64_t>{3, 4});
  const OnnxImport bound = squeezed({-1}).import(bounded("n=1:9"));
  CHECK(run(bound, {{"n", 1}}).dims == std::vector<int64_t>{4});
  CHECK(failureOf(bound, {{"n", 3}}, HostTensor::zeros(DType::F32, {3, 1, 4})).find("--var n") != std::string::npos);
  CHECK(run(squeezed({-1}).import(bounded("n=2:9")), {{"n", 3}}).dims == std::vector<int64_t>{3, 4});
}

TEST_CASE("Squeeze of a size that is bounded to be 1 or more is checked by every run") {
  OnnxMaker m;
  m.input("x", {"n", "1", "4"}).output("y").node("Squeeze", {"x"}, {"y"});
  const OnnxImport import = m.import(bounded("n=0:8"));
  REQUIRE(import.model);
  CHECK(says(import.notes, "--var n=SIZE"));
  CHECK(run(import, {{"n", 3}}).dims == std::vector<int64_t>{3, 4});
  CHECK(run(import, {{"n", 0}}).dims == std::vector<int64_t>{0, 4});
  const std::string failure = failureOf(import, {{"n", 1}}, HostTensor::zeros(DType::F32, {1, 1, 4}));
  CHECK(failure.find("axis 0 of f32[n, 1, 4] does not have size 1") != std::string::npos);
  CHECK(failure.find("--var n=SIZE") != std::string::npos);
}

TEST_CASE("Squeeze of a length that is 1 in a run fails") {
  OnnxMaker m;
  m.input("x", {"6"}).output("y", 7).node("NonZero", {"x"}, {"p"});
  m.node("Squeeze", {"p"}, {"y"});
  const OnnxImport import = m.import();
  CHECK(failureOf(import, {}, f32({6}, {0, 1, 0, 1, 0, 0})).empty());
  CHECK(failureOf(import, {}, f32({6}, {0, 1, 0, 0, 0, 0})).find("does not have size 1") != std::string::npos);
}

TEST_CASE("a branch for a size of 1 is right at every size that the plan takes") {
  // Of x, [n, 1, 4]: axis 0, the axis of a convolution over the last one, and of the numbers below n.
  for (const std::string source : {"x", "conv", "range"}) {
    CAPTURE(source);
    OnnxMaker m;
    m.input("x", {"n", "1", "4"}).ints("first", {}, {0}).ints("one", {}, {1}).ints("axis", {1}, {0}).output("y");
    m.floats("w", {2, 1, 4}, std::vector<float>(8, 1));
    m.node("Conv", {"x", "w"}, {"conv"});
    m.node("Shape", {"x"}, {"s"});
    m.node("Gather", {"s", "first"}, {"n_"});
    m.node("Range", {"first", "n_", "one"}, {"numbers"});
    addAttribute(m.node("Cast", {"numbers"}, {"range"}), "to", int64_t{1});
    m.node("Shape", {source}, {"shape"});
    m.node("Gather", {"shape", "first"}, {"size"});
    m.node("Equal", {"size", "one"}, {"c"});
    proto::NodeProto& node = m.node("If", {"c"}, {"t"});
    addNode(*addGraph(node, "then_branch", {}, {"s1"}).mutable_node(), "Squeeze", {source, "axis"}, {"s1"});
    addNode(*addGraph(node, "else_branch", {}, {"e1"}).mutable_node(), "Identity", {source}, {"e1"});
    m.node("Relu", {"t"}, {"y"});
    const OnnxImport free = m.import();
    REQUIRE(free.model);
    CHECK(variableOf(free).bounds().min == 2);
    for (int64_t size : {1, 2, 3}) {
      const HostTensor fixed = run(m.import(bounded("n=" + std::to_string(size))));
      CHECK(fixed.dims.size() == (source == "range" ? 1U : 3U) - (size == 1 ? 1U : 0U));
      if (size > 1) CHECK(run(free, {{"n", size}}) == fixed);
    }
  }
}

TEST_CASE("a sum over what Squeeze leaves is not one over the batch") {
  OnnxMaker m;
  m.input("x", {"n", "1", "4"}).ints("axes", {1}, {0}).output("y").node("Squeeze", {"x"}, {"t"});
  addAttribute(m.node("ReduceSum", {"t", "axes"}, {"y"}), "keepdims", int64_t{0});
  CHECK(run(m.import(bounded("n=1:1")), {{"n", 1}}) == f32({}, {6}));
  CHECK(run(m.import(), {{"n", 2}}) == f32({4}, {4, 6, 8, 10}));
}

TEST_CASE("where what follows needs the size to be 1, it is") {
  OnnxMaker m;
  m.input("x", {"n", "1", "4"}).floats("w", {4, 2}, std::vector<float>(8, 1)).output("y");
  m.node("Squeeze", {"x"}, {"t"});
  proto::NodeProto& order = m.node("Transpose", {"t"}, {"y"});
  addAttribute(order, "perm", std::vector<int64_t>{0});
  const OnnxImport import = m.import();
  CHECK(run(import).dims == std::vector<int64_t>{4});
  CHECK(says(import.notes, "'n' is taken for 1"));
}

TEST_CASE("the branch that fits what follows is taken, and every run checks the condition") {
  OnnxMaker m = branches("Identity");
  addAttribute(m.node("Transpose", {"t"}, {"y"}), "perm", std::vector<int64_t>{1, 0});
  const OnnxImport import = m.import();
  REQUIRE(import.model);
  CHECK(says(import.notes, "the plan is for runs in which its condition holds"));
  ModelBindings bindings = bindingsOf(*import.model, {{"n", 2}});
  bindings.ports[1] = HostTensor::of(DType::Bool, {}, {1});
  CHECK(interpret(*import.model, bindings));
  bindings.ports[1] = HostTensor::of(DType::Bool, {}, {0});
  CHECK_FALSE(interpret(*import.model, bindings));
}

TEST_CASE("branches with different ranks that both fit are refused with the flag") {
  OnnxMaker m = branches("Identity");
  m.node("Relu", {"t"}, {"y"});
  const OnnxImport import = m.import();
  REQUIRE(import.errors.size() == 1);
  CHECK(toText(import.errors[0]).find("branches with different ranks") != std::string::npos);
  CHECK(toText(import.errors[0]).find("--const c=FILE.npy") != std::string::npos);
}

TEST_CASE("a branch that is not taken checks nothing") {
  OnnxMaker m;
  m.input("x", {"n"}).input("c", {}, 9).ints("hundreds", {2}, {-1, 100}).ints("axes", {2}, {0, 1}).output("y");
  proto::NodeProto& node = m.node("If", {"c"}, {"y"});
  proto::GraphProto& then = addGraph(node, "then_branch", {}, {"a"});
  addNode(*then.mutable_node(), "Reshape", {"x", "hundreds"}, {"r"});
  addNode(*then.mutable_node(), "ReduceSum", {"r", "axes"}, {"a"});
  addAttribute(*then.mutable_node()->rbegin(), "keepdims", int64_t{0});
  proto::GraphProto& otherwise = addGraph(node, "else_branch", {}, {"b"});
  addNode(*otherwise.mutable_node(), "ReduceSum", {"x"}, {"b"});
  addAttribute(*otherwise.mutable_node()->rbegin(), "keepdims", int64_t{0});
  for (const char* option : {"n=0:512", "n=7"}) {
    CAPTURE(option);
    const OnnxImport import = m.import(bounded(option));
    REQUIRE(import.model);
    ModelBindings bindings = bindingsOf(*import.model, {{"n", 7}});
    for (bool isTaken : {false, true}) {
      bindings.ports[1] = HostTensor::of(DType::Bool, {}, {isTaken ? 1.0 : 0.0});
      CHECK(interpret(*import.model, bindings).operator bool() == !isTaken);
    }
  }
}

TEST_CASE("--var bounds a size that the model computes, by the name of the value") {
  OnnxMaker m;
  m.input("x", {}).ints("zero", {}, {0}).ints("one", {}, {1}).output("y", 7);
  addAttribute(m.node("Cast", {"x"}, {"limit"}), "to", int64_t{7});
  m.node("Range", {"zero", "limit", "one"}, {"y"});
  CHECK(says(m.import().notes, "--var limit.0=LO:HI"));
  const OnnxImport import = m.import(bounded("limit.0=0:20"));
  CHECK(failureOf(import, {}, f32({}, {20})).empty());
  CHECK(failureOf(import, {}, f32({}, {21})).find("--var limit.0=0:20") != std::string::npos);
  CHECK(failureOf(m.import(bounded("limit.0=7")), {}, f32({}, {7})).empty());
  CHECK_FALSE(failureOf(m.import(bounded("limit.0=7")), {}, f32({}, {6})).empty());
  LoadOptions unused = bounded("limit.0=0:20");
  unused.variables.push_back(*parseVariableOption("limit.1=0:4"));
  CHECK(says(m.import(unused).errors, "'limit.1' is not a size that a run computes"));
}
