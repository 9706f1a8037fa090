// Elements of inputs that are sizes: what a declared result says of them, and where --var makes variables of them.
#include <stdexcept>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

// Range(0, length) of floats, squared, as functions of windows count: nothing declares the result of the range itself.
OnnxMaker counted(const std::string& declared) {
  OnnxMaker m;
  m.input("length", {}, 6);
  m.floats("zero", {}, {0}).floats("one", {}, {1});
  if (declared == "?")
    m.output("y");
  else
    m.shapedOutput("y", {std::stoll(declared)});
  addAttribute(m.node("Cast", {"length"}, {"float"}), "to", int64_t{1});
  m.node("Range", {"zero", "float", "one"}, {"range"});
  m.node("Mul", {"range", "range"}, {"y"});
  return m;
}

Result<std::vector<HostTensor>> runOf(const Model& model, double given, VariableValues variables = {}) {
  ModelBindings bindings;
  bindings.variables = std::move(variables);
  for (const ModelPort& p : model.ports)
    bindings.ports.push_back(p.kind == PortKind::Input ? HostTensor::of(p.buffer.dtype(), {}, {given}) : HostTensor());
  return interpret(model, bindings);
}

const HostTensor& outputOf(const Model& model, const std::vector<HostTensor>& ports) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (model.ports[i].kind == PortKind::Output) return ports[i];
  throw std::logic_error("no output");
}

}  // namespace

TEST_CASE("elements of an input are sizes where a declared result says which") {
  const OnnxImport import = counted("9").import();
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  CHECK(import.model->variables.empty());
  REQUIRE(import.notes.size() == 1);
  CHECK(toText(import.notes[0]).find("'length.0' is taken for 9: the declared shape of the output 'y' needs it") !=
        std::string::npos);
  const auto right = runOf(*import.model, 9), wrong = runOf(*import.model, 8);
  REQUIRE(right);
  CHECK(outputOf(*import.model, *right).dims == std::vector<int64_t>{9});
  CHECK(outputOf(*import.model, *right).at(8).asFloat() == 64);
  REQUIRE(!wrong);
  CHECK(wrong.error()->diag == Diag::InputMismatch);
  CHECK(toText(wrong.error()).find("the input 'length'") != std::string::npos);
}

TEST_CASE("elements of an input that nothing says are sizes by request") {
  OnnxMaker m;
  m.input("length", {}, 7).output("y", 7).ints("zero", {}, {0}).ints("one", {}, {1});
  m.node("Range", {"zero", "length", "one"}, {"y"});
  const OnnxImport refused = m.import();
  REQUIRE(!refused.model);
  CHECK(toText(refused.errors[0]).find("--const length=FILE.npy") != std::string::npos);
  CHECK(toText(refused.errors[0]).find("--var length.0=SIZE") != std::string::npos);
  CHECK(toText(refused.errors[0]).find("depends on 'length'") != std::string::npos);

  LoadOptions options;
  options.variables.push_back(parseVariableOption("length.0=1:40").value());
  const OnnxImport import = counted("?").import(options);
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  REQUIRE(import.model->variables.size() == 1);
  for (const int64_t size : {1, 7, 40}) {
    const auto ports = runOf(*import.model, static_cast<double>(size), {{"length.0", size}});
    REQUIRE(ports);
    CHECK(outputOf(*import.model, *ports).dims == std::vector<int64_t>{size});
    CHECK(!runOf(*import.model, static_cast<double>(size + 1), {{"length.0", size}}));
  }
  // An element that the input does not have is no size.
  options.variables = {parseVariableOption("length.1=1:40").value()};
  CHECK(!counted("?").import(options).model);
}

TEST_CASE("a part of the middle, as large as an input says, for all sizes") {
  OnnxMaker m(18);
  m.input("x", {"6"}).input("size", {"1"}, 7).output("y");
  m.ints("two", {1}, {2});
  m.node("Shape", {"x"}, {"have"});
  m.node("Max", {"have", "size"}, {"room"});
  m.node("Sub", {"room", "have"}, {"missing"});
  m.node("Div", {"missing", "two"}, {"before"});
  m.node("Sub", {"missing", "before"}, {"after"});
  addAttribute(m.node("Concat", {"before", "after"}, {"pads"}), "axis", int64_t{0});
  m.node("Pad", {"x", "pads"}, {"padded"});
  m.node("Shape", {"padded"}, {"now"});
  m.node("Sub", {"now", "size"}, {"left"});
  m.node("Div", {"left", "two"}, {"start"});
  m.node("Add", {"start", "size"}, {"end"});
  m.node("Slice", {"padded", "start", "end"}, {"y"});
  LoadOptions options;
  options.variables.push_back(parseVariableOption("size.0=1:13").value());
  const OnnxImport import = m.import(options);
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  for (int64_t size = 1; size <= 13; ++size) {
    ModelBindings bindings;
    bindings.variables = {{"size.0", size}};
    for (const ModelPort& p : import.model->ports)
      bindings.ports.push_back(p.name == "x"      ? HostTensor::of(DType::F32, {6}, {1, 2, 3, 4, 5, 6})
                               : p.name == "size" ? HostTensor::of(DType::I64, {1}, {static_cast<double>(size)})
                                                  : HostTensor());
    const auto ports = interpret(*import.model, bindings);
    REQUIRE(ports);
    const HostTensor& y = outputOf(*import.model, *ports);
    REQUIRE(y.numel() == size);
    const int64_t room = std::max<int64_t>(size, 6), before = (room - 6) / 2, start = (room - size) / 2;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = start + i - before;
      CHECK(y.at(i).asFloat() == (at >= 0 && at < 6 ? static_cast<double>(at + 1) : 0));
    }
  }
}
