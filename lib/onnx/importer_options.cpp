// What the command line says about the inputs of a model: values and bounds of variables, shapes, constants.
#include <algorithm>

#include "onnx/dtypes.h"
#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/suggest.h"
#include "support/text.h"

namespace svod {

namespace {

// Bounds of a symbolic dim that --var does not give; docs/onnx.md names them.
constexpr int64_t kDefaultMin = 1, kDefaultMax = 512;

// The variable that a dim without a number is.
std::string variableName(const proto::ValueInfoProto& input, int axis) {
  const auto& dim = input.type().tensor_type().shape().dim(axis);
  return dim.dim_param().empty() ? input.name() + "." + std::to_string(axis) : dim.dim_param();
}

}  // namespace

void OnnxImporter::bind(const std::string& variable, int64_t value, const std::string& from) {
  auto [it, isNew] = bound_.try_emplace(variable, value);
  if (isNew) boundFrom_[variable] = from;
  if (isNew || it->second == value) return;
  record(Diag::BindMismatch,
         "variable '" + variable + "' is bound to " + std::to_string(it->second) + " (" +
             boundFrom_[variable] + ") and to " + std::to_string(value) + " (" + from + ")",
         "bind it once, or to the same value");
}

// False, with an error, when the declared shape is another one.
bool OnnxImporter::bindShape(const proto::ValueInfoProto& input, const std::vector<int64_t>& shape,
                             const std::string& from, const std::string& help) {
  const proto::TensorShapeProto& declared = input.type().tensor_type().shape();
  if (hasShape(input) && declared.dim_size() != static_cast<int>(shape.size())) {
    record(Diag::ShapeMismatch, from + ": input '" + input.name() + "' has rank " + std::to_string(declared.dim_size()) +
                                    ", not " + std::to_string(shape.size()), help);
    return false;
  }
  shapes_[input.name()] = shape;
  bool fits = true;
  for (int i = 0; i < declared.dim_size(); ++i) {
    int64_t wanted = shape[static_cast<size_t>(i)], have = declared.dim(i).dim_value();
    if (!declared.dim(i).has_dim_value()) {
      bind(variableName(input, i), wanted, from);
    } else if (have >= 0 && have != wanted) {
      record(Diag::ShapeMismatch,
             from + ": axis " + std::to_string(i) + " of input '" + input.name() + "' is " + std::to_string(have) +
                 ", not " + std::to_string(wanted), help);
      fits = false;
    }
  }
  return fits;
}

void OnnxImporter::readVariables(const proto::GraphProto& graph) {
  std::vector<std::string> variables;
  for (const proto::ValueInfoProto& input : graph.input())
    for (int i = 0; hasShape(input) && i < input.type().tensor_type().shape().dim_size(); ++i)
      if (!input.type().tensor_type().shape().dim(i).has_dim_value())
        variables.push_back(variableName(input, i));
  const std::vector<std::string_view> names(variables.begin(), variables.end());
  for (const VariableOption& o : options_.variables) {
    if (std::ranges::find(variables, o.name) == variables.end())
      record(Diag::UnknownPort, "--var: the model has no variable '" + o.name + "'",
             didYouMean(o.name, names, "variables are the symbolic dims of the inputs"));
    if (o.value) bind(o.name, *o.value, "--var " + o.name + "=" + std::to_string(*o.value));
  }
}

// The input that an option names; null and an error when there is none.
const proto::ValueInfoProto* OnnxImporter::inputFor(std::string_view flag, const proto::GraphProto& graph,
                                                    const std::string& name) {
  std::vector<std::string_view> inputs;
  std::string list;
  for (const proto::ValueInfoProto& input : graph.input()) {
    if (input.name() == name) return &input;
    inputs.push_back(input.name());
    list += (list.empty() ? "the inputs are '" : ", '") + input.name() + "'";
  }
  const std::string help = shortened(list, 300);
  const bool isWeight = std::ranges::any_of(graph.initializer(), [&](const auto& t) { return t.name() == name; });
  if (isWeight) {
    record(Diag::UnknownPort, std::string(flag) + ": '" + name + "' is an initializer, whose value the model holds",
           help.empty() ? "the model has no inputs" : help);
  } else {
    record(Diag::UnknownPort, std::string(flag) + ": the model has no input '" + name + "'",
           didYouMean(name, inputs, help));
  }
  return nullptr;
}

void OnnxImporter::readConstant(const proto::ValueInfoProto& input, const std::string& path) {
  const OnnxDType* row = findOnnxDType(input.type().tensor_type().elem_type());
  Result<std::vector<int64_t>> shape = WeightLoader::npyShape(path, row ? row->dtype : DType::Void);
  if (!shape) record(shape.error());
  const bool fits = shape && bindShape(input, *shape, "--const " + input.name() + "=" + path,
                                       "save an array with the dims of the input");
  constantFiles_[input.name()] = fits ? path : "";
}

void OnnxImporter::readOptions(const proto::GraphProto& graph) {
  readVariables(graph);
  for (const auto& [name, shape] : options_.shapes)
    if (const proto::ValueInfoProto* input = inputFor("--shape", graph, name))
      bindShape(*input, shape, "--shape " + name, "only dims that are a variable can be chosen: " +
                                                      optionText("--shape", name, shapeText(*input)));
  for (const auto& [name, path] : options_.constants)
    if (const proto::ValueInfoProto* input = inputFor("--const", graph, name)) readConstant(*input, path);
}

std::vector<Error> OnnxImporter::notes() const {
  std::vector<Error> all = notes_;
  if (unbounded_.empty()) return all;
  std::string names;
  for (const auto& [name, input] : unbounded_) names += (names.empty() ? "'" : ", '") + shortened(name) + "'";
  const auto& [name, input] = unbounded_.front();
  const std::string bounds = std::to_string(kDefaultMin) + " to " + std::to_string(kDefaultMax);
  all.push_back(printable({Diag::VariableBounds,
                           "the size of " + names + " may be " + bounds + " in a run",
                           "other bounds: " + optionText("--var", name, "LO:HI") + "; one size: " +
                               optionText("--var", name, "SIZE") + ", or " +
                               optionText("--shape", input->name(), shapeText(*input)),
                           {file_->path, 0, 0},
                           {}}));
  return all;
}

// The size of an axis without a number.
Dim OnnxImporter::variable(const proto::ValueInfoProto& input, int axis) {
  const std::string name = variableName(input, axis);
  auto [it, isNew] = variables_.try_emplace(name);
  if (!isNew) return it->second;
  auto value = bound_.find(name);
  if (value != bound_.end()) return it->second = builder_.dim(value->second);
  auto given = std::ranges::find_if(options_.variables,
                                    [&](const VariableOption& o) { return o.name == name && o.min; });
  bool isGiven = given != options_.variables.end();
  if (!isGiven) unbounded_.emplace_back(name, &input);
  int64_t min = isGiven ? *given->min : kDefaultMin, max = isGiven ? *given->max : kDefaultMax;
  nameCounts_[name] = 1;
  return it->second = builder_.variable(name, min, max);
}

}  // namespace svod
