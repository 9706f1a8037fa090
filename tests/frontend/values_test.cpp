// Every op against results computed by numpy: the graphs of values/, written by make_values.py, through the
// interpreter.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "common/temp_folder.h"
#include "frontend/frontend.h"
#include "interp/interp.h"
#include "ir/verify.h"

using namespace svod;

namespace {

// What the comments of a test graph say.
struct Notes {
  std::string expected = "svod 1\n", fed = "svod 1\n";  // weight statements
  VariableValues variables;
  double tolerance = 2e-5;
};

Notes readNotes(const std::string& text) {
  Notes notes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# expect ")) notes.expected += line.substr(9) + "\n";
    if (line.starts_with("# feed ")) notes.fed += line.substr(7) + "\n";
    if (line.starts_with("# tolerance ")) notes.tolerance = std::stod(line.substr(12));
    if (line.starts_with("# var ")) {
      std::istringstream words(line.substr(6));
      std::string name, equals;
      int64_t value = 0;
      words >> name >> equals >> value;
      notes.variables[name] = value;
    }
  }
  return notes;
}

Model build(const std::string& text, const std::string& path) {
  Result<GraphFile> file = parseGraph(text, path);
  if (!file) FAIL(toText(file.error()));
  Result<Model> model = buildModel(*file);
  if (!model) FAIL(toText(model.error()));
  Status legal = verify(model->sink, Stage::Tensor);
  if (!legal) FAIL(path << ": " << toText(legal.error()));
  return std::move(*model);
}

// The weights that statements declare, by name.
std::map<std::string, HostTensor> weightsOf(const std::string& statements, const std::string& path) {
  std::map<std::string, HostTensor> weights;
  if (statements == "svod 1\n") return weights;
  Model model = build(statements + "output unused = 0\n", path);
  for (const ModelPort& port : model.ports) {
    if (port.kind != PortKind::Weight) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape()) dims.push_back(d.constInt());
    HostTensor t = HostTensor::zeros(port.buffer.dtype(), dims);
    if (port.data.bytes > 0) std::memcpy(t.data.data(), port.data.data, port.data.bytes);
    weights[port.name] = std::move(t);
  }
  return weights;
}

std::string shapeText(const HostTensor& t) {
  std::string text(toText(t.dtype));
  for (int64_t d : t.dims) text += " " + std::to_string(d);
  return text;
}

bool isClose(const Scalar& got, const Scalar& want, double tolerance) {
  if (!isFloat(got.dtype())) return got == want;
  double a = got.asFloat(), b = want.asFloat();
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

void compare(const std::string& where, const HostTensor& got, const HostTensor& want, double tolerance) {
  INFO(where);
  REQUIRE(shapeText(got) == shapeText(want));
  for (int64_t i = 0; i < got.numel(); ++i)
    if (!isClose(got.at(i), want.at(i), tolerance))
      FAIL_CHECK("element " << i << " is " << toText(got.at(i)) << ", expected " << toText(want.at(i)));
}

void runFile(const std::string& path) {
  INFO(path);
  std::string text = readText(path);
  Notes notes = readNotes(text);
  Model model = build(text, path);
  std::map<std::string, HostTensor> want = weightsOf(notes.expected, path), fed = weightsOf(notes.fed, path);
  REQUIRE_FALSE(want.empty());
  ModelBindings bindings;
  bindings.variables = notes.variables;
  for (const ModelPort& port : model.ports)
    bindings.ports.push_back(port.kind == PortKind::Input ? fed.at(port.name) : HostTensor());
  Result<std::vector<HostTensor>> results = interpret(model, bindings);
  if (!results) FAIL(toText(results.error()));
  size_t outputs = 0;
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (model.ports[i].kind != PortKind::Output) continue;
    ++outputs;
    compare(model.ports[i].name, (*results)[i], want.at(model.ports[i].name), notes.tolerance);
  }
  CHECK(outputs == want.size());
}

}  // namespace

TEST_CASE("every op gives the values its definition asks for") {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SVOD_TEST_DIR "/values"))
    if (entry.path().extension() == ".svod") runFile(entry.path().string()), ++count;
  CHECK(count >= 20);
}
