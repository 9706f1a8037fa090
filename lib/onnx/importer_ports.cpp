// Inputs and outputs of a model, and what the command line says about them.
#include <algorithm>

#include "onnx/dtypes.h"
#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/suggest.h"

namespace svod {

namespace {

constexpr int kMaxRank = 32;
// Bounds of a symbolic dim that --var does not give; docs/onnx.md names them.
constexpr int64_t kDefaultMin = 1, kDefaultMax = 512;

using Dimension = proto::TensorShapeProto::Dimension;

bool hasShape(const proto::ValueInfoProto& v) {
  return v.type().has_tensor_type() && v.type().tensor_type().has_shape();
}

// The variable that a dim without a number is.
std::string variableName(const proto::ValueInfoProto& input, int axis) {
  const Dimension& dim = input.type().tensor_type().shape().dim(axis);
  return dim.dim_param().empty() ? input.name() + "." + std::to_string(axis) : dim.dim_param();
}

const proto::ValueInfoProto* findInput(const proto::GraphProto& graph, const std::string& name) {
  for (const proto::ValueInfoProto& input : graph.input())
    if (input.name() == name) return &input;
  return nullptr;
}

std::string kindOf(const proto::TypeProto& type) {
  if (type.has_sequence_type()) return "a sequence";
  if (type.has_optional_type()) return "an optional";
  if (type.has_map_type()) return "a map";
  return type.has_sparse_tensor_type() ? "a sparse tensor" : "of no type";
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

void OnnxImporter::bindShape(const proto::ValueInfoProto& input, const std::vector<int64_t>& shape,
                             const std::string& from) {
  shapes_[input.name()] = shape;
  if (!hasShape(input)) return;
  const proto::TensorShapeProto& declared = input.type().tensor_type().shape();
  if (declared.dim_size() != static_cast<int>(shape.size()))
    return record(Diag::ShapeMismatch, from + ": input '" + input.name() + "' has rank " +
                                           std::to_string(declared.dim_size()) + ", not " +
                                           std::to_string(shape.size()));
  for (int i = 0; i < declared.dim_size(); ++i) {
    int64_t wanted = shape[static_cast<size_t>(i)];
    if (!declared.dim(i).has_dim_value()) {
      bind(variableName(input, i), wanted, from);
    } else if (declared.dim(i).dim_value() != wanted) {
      record(Diag::ShapeMismatch,
             from + ": axis " + std::to_string(i) + " of input '" + input.name() + "' is " +
                 std::to_string(declared.dim(i).dim_value()) + ", not " + std::to_string(wanted),
             "only dims that are a variable can be chosen");
    }
  }
}

void OnnxImporter::readOptions(const proto::GraphProto& graph) {
  std::vector<std::string> variables;
  std::vector<std::string_view> inputs;
  for (const proto::ValueInfoProto& input : graph.input()) {
    inputs.push_back(input.name());
    for (int i = 0; hasShape(input) && i < input.type().tensor_type().shape().dim_size(); ++i)
      if (!input.type().tensor_type().shape().dim(i).has_dim_value())
        variables.push_back(variableName(input, i));
  }
  for (const VariableOption& o : options_.variables) {
    std::vector<std::string_view> names(variables.begin(), variables.end());
    if (std::ranges::find(variables, o.name) == variables.end())
      record(Diag::UnknownPort, "--var: the model has no variable '" + o.name + "'",
             didYouMean(o.name, names, "variables are the symbolic dims of the inputs"));
    if (o.value) bind(o.name, *o.value, "--var " + o.name + "=" + std::to_string(*o.value));
  }
  for (const auto& [name, shape] : options_.shapes) {
    if (const proto::ValueInfoProto* input = findInput(graph, name)) {
      bindShape(*input, shape, "--shape " + name);
    } else {
      record(Diag::UnknownPort, "--shape: the model has no input '" + name + "'", didYouMean(name, inputs));
    }
  }
  for (const auto& [name, path] : options_.constants) {
    const proto::ValueInfoProto* input = findInput(graph, name);
    if (!input) {
      record(Diag::UnknownPort, "--const: the model has no input '" + name + "'", didYouMean(name, inputs));
      continue;
    }
    const OnnxDType* row = findOnnxDType(input->type().tensor_type().elem_type());
    Result<std::vector<int64_t>> shape = WeightLoader::npyShape(path, row ? row->dtype : DType::Void);
    if (!shape) {
      record(shape.error());
      continue;
    }
    constantFiles_[name] = path;
    bindShape(*input, *shape, "--const " + name + "=" + path);
  }
}

std::vector<Error> OnnxImporter::notes() const {
  if (unbounded_.empty()) return {};
  std::string names;
  for (const auto& [name, input] : unbounded_) names += (names.empty() ? "'" : ", '") + shortened(name) + "'";
  const auto& [name, input] = unbounded_.front();
  return {Error{Diag::VariableBounds,
                "the size of " + names + " may be " + std::to_string(kDefaultMin) + " to " +
                    std::to_string(kDefaultMax) + " in a run",
                "other bounds: --var " + shortened(name) + "=LO:HI; one size: --var " + shortened(name) +
                    "=SIZE, or --shape " + shortened(input) + "=SIZExSIZE..",
                {file_->path, 0, 0},
                {}}};
}

Dim OnnxImporter::variable(const std::string& name, const std::string& input) {
  auto [it, isNew] = variables_.try_emplace(name);
  if (!isNew) return it->second;
  auto value = bound_.find(name);
  if (value != bound_.end()) return it->second = builder_.dim(value->second);
  auto given = std::ranges::find_if(options_.variables,
                                    [&](const VariableOption& o) { return o.name == name && o.min; });
  bool isGiven = given != options_.variables.end();
  if (!isGiven) unbounded_.emplace_back(name, input);
  int64_t min = isGiven ? *given->min : kDefaultMin, max = isGiven ? *given->max : kDefaultMax;
  nameCounts_[name] = 1;
  return it->second = builder_.variable(name, min, max);
}

std::optional<Dims> OnnxImporter::dimsOf(const proto::ValueInfoProto& input) {
  Dims dims;
  if (!hasShape(input)) {
    auto given = shapes_.find(input.name());
    if (given == shapes_.end()) {
      record(Diag::Unsupported, "the input '" + input.name() + "' has no shape",
             "give it one: --shape '" + input.name() + "=1x3x224x224'");
      return std::nullopt;
    }
    for (int64_t d : given->second) dims.add(builder_.dim(d));
    return dims;
  }
  const proto::TensorShapeProto& shape = input.type().tensor_type().shape();
  if (shape.dim_size() > kMaxRank) {
    record(Diag::TooLarge,
           "the input '" + input.name() + "' has " + std::to_string(shape.dim_size()) + " dims",
           "at most 32");
    return std::nullopt;
  }
  for (int i = 0; i < shape.dim_size(); ++i) {
    if (shape.dim(i).has_dim_value() && shape.dim(i).dim_value() < 0) {
      record(Diag::Syntax,
             "the input '" + input.name() + "' has the dim " + std::to_string(shape.dim(i).dim_value()),
             "dims are 0 or more, or have a name");
      return std::nullopt;
    }
    dims.add(shape.dim(i).has_dim_value() ? builder_.dim(shape.dim(i).dim_value())
                                          : variable(variableName(input, i), input.name()));
  }
  return dims;
}

// Outputs and intermediate values with a declared shape. What is declared behind an op that keeps shapes
// holds before it as well.
void OnnxImporter::readDeclarations(const proto::GraphProto& graph) {
  constexpr std::string_view kKeepShape[] = {"Abs", "Cast", "CastLike", "Exp",  "Identity",
                                             "Log", "Neg",  "Relu",     "Sqrt", "Reciprocal"};
  auto declare = [&](const proto::ValueInfoProto& value) {
    if (value.type().has_tensor_type() && value.type().tensor_type().has_shape())
      declared_.try_emplace(value.name(), &value.type().tensor_type().shape());
  };
  for (const proto::ValueInfoProto& value : graph.output()) declare(value);
  for (const proto::ValueInfoProto& value : graph.value_info()) declare(value);
  for (int i = graph.node_size(); i-- > 0;) {
    const proto::NodeProto& node = graph.node(i);
    if (!canonicalDomain(node.domain()).empty() || node.input_size() == 0 || node.output_size() == 0)
      continue;
    if (std::ranges::find(kKeepShape, node.op_type()) == std::end(kKeepShape)) continue;
    auto known = declared_.find(node.output(0));
    if (known != declared_.end()) declared_.try_emplace(node.input(0), known->second);
  }
}

std::vector<std::optional<Dims>> OnnxImporter::declaredDims(const Body& body, const proto::NodeProto& node) {
  std::vector<std::optional<Dims>> all(static_cast<size_t>(node.output_size()));
  for (int i = 0; i < node.output_size() && body.depth == 0; ++i) {
    auto known = declared_.find(node.output(i));
    if (known == declared_.end()) continue;
    Dims dims;
    bool isConstant = known->second->dim_size() <= kMaxRank;
    for (const auto& d : known->second->dim()) {
      isConstant &= d.has_dim_value() && d.dim_value() >= 0;
      dims.add(builder_.dim(d.dim_value()));
    }
    if (isConstant) all[static_cast<size_t>(i)] = dims;
  }
  return all;
}

Tensor OnnxImporter::constantInput(const std::string& name, const std::string& path, DType dtype,
                                   const Dims& dims) {
  std::vector<int64_t> sizes;
  for (const Dim& d : dims) {
    if (!d || !d.isConst()) return {};
    sizes.push_back(d.constant());
  }
  Result<ConstData> data = WeightLoader("").loadNpy(path, dtype, sizes);
  if (data) return constantOf({dtype, sizes, *data}, name);
  record(data.error());
  return {};
}

// An input that is also an initializer has that value.
void OnnxImporter::addInput(Body& body, const proto::ValueInfoProto& input) {
  const std::string& name = input.name();
  Value* initializer = lookup(body.scope, name);
  auto constant = constantFiles_.find(name);
  if (initializer && constant == constantFiles_.end()) return;
  Value value{Tensor(), nullptr, true};
  const std::string what = "the input '" + name + "'";
  if (!input.type().has_tensor_type()) {
    bool isMalformed = input.type().value_case() == proto::TypeProto::VALUE_NOT_SET;
    record(isMalformed ? Diag::Syntax : Diag::Unsupported, what + " is " + kindOf(input.type()),
           "inputs are dense tensors");
  } else if (Result<DType> dtype = dtypeOfOnnx(input.type().tensor_type().elem_type(), what); !dtype) {
    record(dtype.error());
  } else if (std::optional<Dims> dims = dimsOf(input)) {
    bool isConstant = constant != constantFiles_.end();
    if (!isConstant) nameCounts_[name] = 1;
    value.tensor = isConstant ? constantInput(name, constant->second, *dtype, *dims)
                              : builder_.input(name, *dtype, *dims);
    if (std::optional<Error> error = builder_.takeError()) {
      error->message = what + ": " + error->message;
      record(std::move(*error));
    }
    value.isBroken = !value.tensor;
  }
  if (initializer) {
    *initializer = value;
  } else {
    define(body, name, value);
  }
}

void OnnxImporter::addOutput(Body& body, const proto::ValueInfoProto& output) {
  Value* value = lookup(body.scope, output.name());
  if (!value)
    return record(Diag::UnknownName, "no node makes the output '" + output.name() + "'",
                  "the model is incomplete");
  Tensor x = tensorOf(*value, output.name());
  if (!x || value->isBroken) return;
  int declared = output.type().tensor_type().elem_type();
  const OnnxDType* row = findOnnxDType(declared);
  if (declared != 0 && (!row || row->dtype != x.dtype()))
    return record(Diag::Syntax,
                  "the output '" + output.name() + "' is declared as " +
                      (row ? std::string(row->name) : std::to_string(declared)) + ", its node makes " +
                      describe(x),
                  "correct the declaration of the output");
  builder_.output(output.name(), x);
  addFilled(output.name(), x);
  takeError();
}

// How much of an output a run fills is an output of its own, with an entry per axis.
void OnnxImporter::addFilled(const std::string& name, const Tensor& x) {
  const Filled* filled = this->filled(x);
  if (!filled) return;
  std::vector<Tensor> sizes;
  for (int i = 0; i < x.rank(); ++i) {
    Tensor count = (*filled)[static_cast<size_t>(i)];
    sizes.push_back(count ? count : cast(builder_.value(x.dim(i)), DType::I64));
  }
  builder_.output(name + ".length", builder_.op("stack", sizes, {{"axis", 0}}));
}

}  // namespace svod
