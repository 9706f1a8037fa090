#include "common/value_graph.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "common/temp_folder.h"
#include "frontend/frontend.h"
#include "ir/verify.h"

namespace svod {

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

GraphFile parsed(const std::string& text, const std::string& path) {
  Result<GraphFile> file = parseGraph(text, path);
  if (!file) FAIL(toText(file.error()));
  return std::move(*file);
}

Model build(const GraphFile& file, const std::string& path) {
  Result<Model> model = buildModel(file);
  if (!model) FAIL(toText(model.error()));
  Status legal = verify(model->sink, Stage::Tensor);
  if (!legal) FAIL(path << ": " << toText(legal.error()));
  return std::move(*model);
}

// The weights that statements declare, by name.
std::map<std::string, HostTensor> weightsOf(const std::string& statements, const std::string& path) {
  std::map<std::string, HostTensor> weights;
  if (statements == "svod 1\n") return weights;
  GraphFile file = parsed(statements, path);
  for (size_t i = 0, count = file.statements.size(); i < count; ++i) {  // a model keeps the weights that it reads
    Statement output;
    output.kind = StatementKind::Output;
    output.names = file.statements[i].names;
    file.statements.push_back(std::move(output));
  }
  Model model = build(file, path);
  for (const ModelPort& port : model.ports) {
    if (port.kind != PortKind::Weight) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape()) dims.push_back(d.constInt());
    weights[port.name] = HostTensor::fromMemory(port.buffer.dtype(), dims, {port.data.data, port.data.bytes});
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

}  // namespace

ValueGraph loadValueGraph(const std::string& path) {
  std::string text = readText(path);
  Notes notes = readNotes(text);
  ValueGraph graph;
  graph.model = build(parsed(text, path), path);
  graph.tolerance = notes.tolerance;
  graph.expected = weightsOf(notes.expected, path);
  REQUIRE_FALSE(graph.expected.empty());
  std::map<std::string, HostTensor> fed = weightsOf(notes.fed, path);
  graph.bindings.variables = notes.variables;
  for (const ModelPort& port : graph.model.ports)
    graph.bindings.ports.push_back(port.kind == PortKind::Input ? fed.at(port.name) : HostTensor());
  return graph;
}

std::vector<std::string> valueGraphs() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/frontend/values"))
    if (entry.path().extension() == ".svod") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void checkValues(const ValueGraph& graph, const std::vector<HostTensor>& results) {
  size_t outputs = 0;
  for (size_t i = 0; i < graph.model.ports.size(); ++i) {
    const ModelPort& port = graph.model.ports[i];
    if (port.kind != PortKind::Output) continue;
    ++outputs;
    compare(port.name, results[i], graph.expected.at(port.name), graph.tolerance);
  }
  CHECK(outputs == graph.expected.size());
}

}  // namespace svod
