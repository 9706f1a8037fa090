// Models that were made to do harm: they end in one clear error, soon.
#include <catch2/catch.hpp>

#include <filesystem>

#include "common/temp_folder.h"
#include "onnx_maker.h"

using namespace svod;

namespace {

/// y = Neg(w), where w is stored in `location`.
OnnxImport withExternal(const std::string& folder, const std::string& location, const std::string& offset = "0") {
  OnnxMaker m;
  m.floats("w", {2}, {}).output("y").node("Neg", {"w"}, {"y"});
  proto::TensorProto& w = *m.model.mutable_graph()->mutable_initializer(0);
  w.clear_raw_data();
  w.clear_float_data();
  w.set_data_location(1);
  for (const auto& [key, value] : {std::pair{"location", location}, std::pair{"offset", offset}}) {
    proto::StringStringEntryProto& entry = *w.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::string bytes = m.bytes();
  return importOnnxBytes(std::as_bytes(std::span(bytes)), folder + "/m.onnx");
}

Diag problem(const OnnxImport& import) {
  REQUIRE(!import.model);
  REQUIRE(!import.errors.empty());
  INFO(toText(import.errors[0]));
  return import.errors[0]->diag;
}

/// A Loop in a Loop in ...
OnnxMaker nestedLoops(int depth, int64_t steps) {
  OnnxMaker m;
  m.input("x", {"1"}).ints("count", {}, {steps}).output("y");
  proto::NodeProto* loop = &m.node("Loop", {"count", "", "x"}, {"y"});
  for (int i = 0; i < depth; ++i) {
    std::string in = "s" + std::to_string(i), out = "t" + std::to_string(i), on = "on" + std::to_string(i);
    proto::GraphProto& body = addGraph(*loop, "body", {"i" + std::to_string(i), on, in}, {on, out});
    bool isLast = i + 1 == depth;
    addNode(*body.mutable_node(), isLast ? "Neg" : "Loop",
            isLast ? OnnxMaker::Names{in} : OnnxMaker::Names{"count", "", in}, {out});
    loop = body.mutable_node(0);
  }
  return m;
}

}  // namespace

TEST_CASE("external data stays in the folder of the model") {
  TempFolder temp;
  std::filesystem::path base = temp.path();
  std::filesystem::create_directories(base / "model/sub");
  for (const char* name : {"secret", "model/near", "model/sub/deep"}) writeText((base / name).string(), "12345678");
  std::filesystem::create_symlink(base / "secret", base / "model/link");
  std::string folder = (base / "model").string();
  CHECK(withExternal(folder, "near").model);
  CHECK(withExternal(folder, "sub/../sub/deep").model);
  for (const std::string& location :
       {std::string("../secret"), (base / "secret").string(), std::string("link"), std::string("sub/../../secret"),
        std::string(""), std::string("."), std::string("near\0x", 6)}) {
    INFO(location);
    CHECK(problem(withExternal(folder, location)) == Diag::Syntax);
  }
  CHECK(problem(withExternal(folder, "nothing")) == Diag::Io);
  CHECK(problem(withExternal(folder, "near", "4")) == Diag::BadWeights);
  CHECK(problem(withExternal(folder, "near", "18446744073709551612")) == Diag::BadWeights);
  CHECK(problem(withExternal(folder, "near", "-1")) == Diag::Syntax);
}

TEST_CASE("names do not reach the terminal as they are") {
  OnnxMaker m;
  m.input("x\x1b[2J", {"1"}).output("y");
  m.node("Nothing", {"x\x1b[2J"}, {"y"}).set_name(std::string("a\0b", 3));
  OnnxImport import = m.import();
  REQUIRE(!import.errors.empty());
  for (char c : toText(import.errors[0])) CHECK((c == '\n' || c >= ' '));
}

TEST_CASE("loops in loops end, whatever their depth") {
  CHECK(nestedLoops(24, 100).import().model);
  CHECK(problem(nestedLoops(24, 16).import()) == Diag::TooLarge);
}

TEST_CASE("deep nesting and functions that call themselves end") {
  OnnxMaker deep;
  deep.input("x", {"2"}).output("y");
  proto::GraphProto* graph = deep.model.mutable_graph();
  for (int i = 0; i < 60; ++i) {
    proto::AttributeProto& branch = *graph->add_node()->add_attribute();
    branch.set_name("body");
    branch.set_type(5);
    graph = branch.mutable_g();
  }
  CHECK(deep.import().errors.at(0)->diag == Diag::Syntax);

  OnnxMaker m;
  m.input("x", {"2"}).output("y");
  proto::FunctionProto& f = *m.model.add_functions();
  f.set_name("Again");
  f.add_input("a");
  f.add_output("b");
  addNode(*f.mutable_node(), "Again", {"a"}, {"c"});
  addNode(*f.mutable_node(), "Again", {"c"}, {"b"});
  m.node("Again", {"x"}, {"y"});
  CHECK(m.import().errors.at(0)->diag == Diag::TooLarge);
}

TEST_CASE("sizes that no memory holds") {
  OnnxMaker expand;
  expand.input("x", {"1"}).ints("shape", {3}, {1 << 30, 1 << 30, 1 << 30}).output("y");
  expand.node("Expand", {"x", "shape"}, {"y"});
  CHECK(problem(expand.import()) == Diag::TooLarge);

  OnnxMaker fill;
  fill.ints("shape", {2}, {int64_t{1} << 40, int64_t{1} << 40}).output("y");
  fill.node("ConstantOfShape", {"shape"}, {"y"});
  CHECK(problem(fill.import()) == Diag::TooLarge);

  OnnxMaker random;
  random.output("y");
  addAttribute(random.node("RandomNormal", {}, {"y"}), "shape", std::vector<int64_t>{-1, 4});
  CHECK_FALSE(random.import().model);

  OnnxMaker collected;
  collected.input("x", {"1024"}).ints("count", {}, {INT64_MAX}).output("y");
  proto::NodeProto& loop = collected.node("Loop", {"count", ""}, {"y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on"}, {"on", "u"});
  addNode(*body.mutable_node(), "Neg", {"x"}, {"u"});
  CHECK(problem(collected.import()) == Diag::Unsupported);
}

TEST_CASE("graphs that go in circles") {
  OnnxMaker m;
  m.input("x", {"1"}).output("y");
  m.node("Add", {"x", "c"}, {"a"});
  m.node("Neg", {"a"}, {"b"});
  m.node("Neg", {"b"}, {"c"});
  m.node("Neg", {"c"}, {"y"});
  CHECK(problem(m.import()) == Diag::Cycle);
}

TEST_CASE("a slice at a step that passes the end of what it reads") {
  OnnxMaker m;
  m.input("x", {"5"}).input("count", {}, 7).ints("one", {1}, {1}).ints("axis", {1}, {0}).floats("zero", {1}, {0});
  m.output("y");
  proto::NodeProto& loop = m.node("Loop", {"count", "", "zero"}, {"y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "s"}, {"on", "t"});
  addNode(*body.mutable_node(), "Unsqueeze", {"i", "axis"}, {"from"});
  addNode(*body.mutable_node(), "Add", {"from", "one"}, {"to"});
  addNode(*body.mutable_node(), "Slice", {"x", "from", "to"}, {"e"});
  addNode(*body.mutable_node(), "Add", {"s", "e"}, {"t"});
  CHECK_FALSE(m.import().model);
}

TEST_CASE("damaged files are refused") {
  OnnxMaker good;
  good.input("x", {"2", "3"}).output("y").node("Relu", {"x"}, {"y"}).set_name("first");
  std::string bytes = good.bytes();
  auto import = [](const std::string& data) {
    return importOnnxBytes(std::as_bytes(std::span(data.data(), data.size())), "test.onnx");
  };
  for (size_t size = 0; size < bytes.size(); ++size) {
    OnnxImport cut = import(bytes.substr(0, size));
    if (!cut.model) CHECK(!cut.errors.empty());
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    OnnxImport other = import(flipped);
    if (!other.model) CHECK(!other.errors.empty());
  }
  CHECK(import("").errors.at(0)->message == "'test.onnx' is empty");
  CHECK(import("svod 1\n").errors.at(0)->diag == Diag::Syntax);
  CHECK(importOnnx("no/such.onnx").errors.at(0)->diag == Diag::Io);
}
