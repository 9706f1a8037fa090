// Inputs that the model has a value for, and constants that are sparse.
#include <catch2/catch.hpp>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

OnnxMaker sum(int64_t version = 8) {
  OnnxMaker m;
  m.model.set_ir_version(version);
  m.input("x", {"2"}).input("w", {"2"}).floats("w", {2}, {1, 2}).output("y").node("Add", {"x", "w"}, {"y"});
  return m;
}

size_t inputCount(const OnnxImport& import) {
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  return static_cast<size_t>(
      std::ranges::count(import.model->ports, PortKind::Input, [](const ModelPort& p) { return p.kind; }));
}

void setSparse(proto::SparseTensorProto& t, std::vector<int64_t> dims, const std::vector<float>& values,
               std::vector<int64_t> indexDims, const std::vector<int64_t>& indices) {
  t.mutable_dims()->Add(dims.begin(), dims.end());
  t.mutable_values()->set_name("w");
  t.mutable_values()->set_data_type(1);
  t.mutable_values()->add_dims(static_cast<int64_t>(values.size()));
  t.mutable_values()->mutable_float_data()->Add(values.begin(), values.end());
  t.mutable_indices()->set_data_type(7);
  t.mutable_indices()->mutable_dims()->Add(indexDims.begin(), indexDims.end());
  t.mutable_indices()->mutable_int64_data()->Add(indices.begin(), indices.end());
}

// w [2, 3], as an initializer or as a node.
OnnxMaker sparse(bool isNode, std::vector<int64_t> indexDims, const std::vector<int64_t>& indices) {
  OnnxMaker m;
  m.input("x", {"2", "3"}).output("y");
  proto::SparseTensorProto* t = nullptr;
  if (isNode) {
    proto::AttributeProto& value = *m.node("Constant", {}, {"w"}).add_attribute();
    value.set_name("sparse_value"), value.set_type(11);
    t = value.mutable_sparse_tensor();
  } else {
    t = m.model.mutable_graph()->add_sparse_initializer();
  }
  setSparse(*t, {2, 3}, {10, 20}, std::move(indexDims), indices);
  m.node("Add", {"x", "w"}, {"y"});
  return m;
}

}  // namespace

TEST_CASE("an input with a value in the model is a constant, and a note says so") {
  const OnnxImport import = sum().import();
  CHECK(inputCount(import) == 1);
  REQUIRE(import.notes.size() == 1);
  CHECK(toText(import.notes[0]).find("--input-default w") != std::string::npos);
  CHECK(run(import) == f32({2}, {1, 3}));
}

TEST_CASE("a note about many inputs names the first ones and counts the others") {
  OnnxMaker m = sum();
  for (const std::string name : {"a", "b", "c", "d"}) m.input(name, {"2"}).floats(name, {2}, {1, 1});
  const OnnxImport import = m.import();
  REQUIRE(import.notes.size() == 1);
  CHECK(toText(import.notes[0]).find("'w', 'a', 'b' and 2 more") != std::string::npos);
}

TEST_CASE("on request it stays an input") {
  for (const std::string name : {"w", "*"}) {
    LoadOptions options;
    options.inputDefaults = {name};
    const OnnxImport import = sum().import(options);
    CHECK(inputCount(import) == 2);
    CHECK(import.notes.empty());
    CHECK(run(import) == f32({2}, {0, 2}));
  }
}

TEST_CASE("files in which every initializer is an input say nothing by that") {
  CHECK(sum(3).import().notes.empty());
  LoadOptions options;
  options.inputDefaults = {"w"};
  CHECK(inputCount(sum(3).import(options)) == 2);
}

TEST_CASE("a flag that fits no input is an error") {
  LoadOptions options;
  options.inputDefaults = {"x"};
  CHECK(isRefused(sum().import(options), "no value for the input 'x'"));
  options.inputDefaults = {"v"};
  CHECK(isRefused(sum().import(options), "no input 'v'"));
}

TEST_CASE("sparse constants are dense ones") {
  for (const bool isNode : {false, true}) {
    CHECK(run(sparse(isNode, {2}, {1, 5}).import()) == f32({2, 3}, {0, 11, 2, 3, 4, 25}));
    CHECK(run(sparse(isNode, {2, 2}, {0, 0, 1, 1}).import()) == f32({2, 3}, {10, 1, 2, 3, 24, 5}));
    CHECK(isRefused(sparse(isNode, {2}, {1, 6}).import(), "entry 1 lies outside"));
    CHECK(isRefused(sparse(isNode, {2, 2}, {0, 0, 0, 3}).import(), "entry 1 lies outside"));
    CHECK(isRefused(sparse(isNode, {2}, {-1, 0}).import(), "entry 0 lies outside"));
    CHECK(isRefused(sparse(isNode, {1}, {0}).import(), "do not fit"));
    CHECK(isRefused(sparse(isNode, {2, 1}, {0, 1}).import(), "do not fit"));
  }
}

TEST_CASE("a transform of an axis without a number is that of every length") {
  for (const int64_t inverse : {0, 1})
    for (const int64_t oneSided : {0, 1})
      for (const int64_t n : {1, 2, 5, 32}) {
        auto transform = [&](const std::string& size) {
          OnnxMaker m;
          m.input("x", {"2", size, inverse == 1 ? "2" : "1"}).output("y");
          proto::NodeProto& node = m.node("DFT", {"x"}, {"y"});
          addAttribute(node, "axis", int64_t{1}), addAttribute(node, "inverse", inverse);
          addAttribute(node, "onesided", oneSided);
          return m.import();
        };
        if (inverse == 1 && oneSided == 1 && n == 1) continue;  // no result of 0 elements for a fixed size
        INFO("inverse " << inverse << ", onesided " << oneSided << ", n " << n);
        const HostTensor want = run(transform(std::to_string(n))), got = run(transform("n"), {{"n", n}});
        REQUIRE(got.dims == want.dims);
        for (int64_t i = 0; i < want.numel(); ++i)
          CHECK(got.at(i).asFloat() == Approx(want.at(i).asFloat()).margin(1e-3));
      }
}
