// Inputs and outputs of a model.
#include <algorithm>

#include "onnx/dtypes.h"
#include "onnx/importer.h"
#include "onnx/importer_text.h"

namespace svod {

namespace {

constexpr int kMaxRank = 32;

std::string kindOf(const proto::TypeProto& type) {
  if (type.has_sequence_type()) return "a sequence";
  if (type.has_optional_type()) return "an optional";
  if (type.has_map_type()) return "a map";
  return type.has_sparse_tensor_type() ? "a sparse tensor" : "of no type";
}

}  // namespace

std::optional<Dims> OnnxImporter::dimsOf(const proto::ValueInfoProto& input) {
  Dims dims;
  auto given = shapes_.find(input.name());
  if (!hasShape(input)) {
    if (given == shapes_.end()) {
      record(Diag::Unsupported, "the input '" + input.name() + "' has no shape",
             "give it one: " + optionText("--shape", input.name(), "1x3x224x224"));
      return std::nullopt;
    }
    for (const SizeForm& d : given->second) dims.add(sizeOf(d));
    return dims;
  }
  const proto::TensorShapeProto& shape = input.type().tensor_type().shape();
  if (shape.dim_size() > kMaxRank) {
    record(Diag::TooLarge, "the input '" + input.name() + "' has " + std::to_string(shape.dim_size()) + " dims",
           "at most 32");
    return std::nullopt;
  }
  for (int i = 0; i < shape.dim_size(); ++i) {
    dims.add(isFreeDim(shape, i) ? sizeOf(dimNames_.formOf(input, i)) : builder_.dim(shape.dim(i).dim_value()));
  }
  return dims;
}

// Outputs and intermediate values with a declared shape. What is declared behind an op that keeps shapes
// holds before it as well.
void OnnxImporter::readDeclarations(const proto::GraphProto& graph) {
  constexpr std::string_view kKeepShape[] = {"Abs", "Cast", "CastLike", "Exp",  "Identity",
                                             "Log", "Neg",  "Relu",     "Sqrt", "Reciprocal"};
  auto declare = [&](const proto::ValueInfoProto& value) {
    if (hasShape(value)) declared_.try_emplace(value.name(), &value.type().tensor_type().shape());
  };
  for (const proto::ValueInfoProto& value : graph.output()) declare(value);
  for (const proto::ValueInfoProto& value : graph.value_info()) declare(value);
  for (int i = graph.node_size(); i-- > 0;) {
    const proto::NodeProto& node = graph.node(i);
    if (!canonicalDomain(node.domain()).empty() || node.input_size() == 0 || node.output_size() == 0) continue;
    if (std::ranges::find(kKeepShape, node.op_type()) == std::end(kKeepShape)) continue;
    auto known = declared_.find(node.output(0));
    if (known != declared_.end()) declared_.try_emplace(node.input(0), known->second);
  }
}

std::vector<std::optional<Dims>> OnnxImporter::declaredDims(const ImportedBody& body, const proto::NodeProto& node) {
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

Tensor OnnxImporter::constantInput(const std::string& name, const std::string& path, DType dtype, const Dims& dims) {
  std::vector<int64_t> sizes;
  for (const Dim& d : dims) {
    if (path.empty() || !d || !d.isConst()) return {};
    sizes.push_back(d.constant());
  }
  Result<ConstData> data = WeightLoader::loadConstant(name, path, dtype, sizes);
  if (data) return constantOf({dtype, sizes, *data}, name);
  record(data.error());
  return {};
}

// An input that is also an initializer has that value, unless it is to stay an input.
void OnnxImporter::addInput(ImportedBody& body, const proto::ValueInfoProto& input) {
  const std::string& name = input.name();
  NamedValue* initializer = lookup(body.scope, name);
  auto constant = constantFiles_.find(name);
  if (initializer && constant == constantFiles_.end() && !keptInputs_.contains(name)) return;
  NamedValue value{Tensor(), nullptr, true};
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
    value.tensor = isConstant              ? constantInput(name, constant->second, *dtype, *dims)
                   : rooms_.contains(name) ? stateInput(name, *dtype, *dims)
                                           : builder_.input(name, *dtype, *dims);
    noteDemand(what);
    if (std::optional<Error> error = builder_.takeError()) {
      (*error)->message = what + ": " + (*error)->message;
      record(std::move(*error));
    }
    value.isBroken = !value.tensor;
    if (value.tensor && !isConstant) addValues(input, value.tensor);
  }
  if (initializer) {
    *initializer = value;
  } else {
    define(body, name, value);
  }
}

void OnnxImporter::addOutput(ImportedBody& body, const proto::ValueInfoProto& output) {
  NamedValue* value = lookup(body.scope, output.name());
  if (!value)
    return record(Diag::UnknownName, "no node makes the output '" + output.name() + "'", "the model is incomplete");
  Tensor x = tensorOf(*value, output.name());
  if (!x || value->isBroken) return;
  if (list(x))
    return record(Diag::Unsupported, "the output '" + output.name() + "' is a sequence, or an optional without a value",
                  "outputs are tensors: make its elements outputs, or what ConcatFromSequence makes of them");
  int declared = output.type().tensor_type().elem_type();
  const OnnxDType* row = findOnnxDType(declared);
  if (declared != 0 && (!row || row->dtype != x.dtype()))
    return record(Diag::Syntax,
                  "the output '" + output.name() + "' is declared as " +
                      (row ? std::string(row->name) : std::to_string(declared)) + ", its node makes " + describe(x),
                  "correct the declaration of the output");
  noteKept(body, x);
  if (auto past = presentOf_.find(output.name()); past != presentOf_.end() && !rooms_.empty()) {
    finishState(past->second, x);
    takeError();
    return;
  }
  demandDeclared(output, x);
  noteShape(body, output, x);
  builder_.output(output.name(), x);
  addLengths(output.name(), x);
  noteDemand("the output '" + output.name() + "'");
  takeError();
}

// The dims of an output whose size a run computes are an output of their own.
void OnnxImporter::addLengths(const std::string& name, const Tensor& x) {
  Dims dims = x.dims();
  if (std::ranges::none_of(dims, [&](const Dim& d) { return builder_.hasLength(d); })) return;
  std::vector<Tensor> sizes;
  for (const Dim& d : dims) sizes.push_back(cast(builder_.value(d), DType::I64));
  builder_.output(name + ".length", builder_.op("stack", sizes, {{"axis", 0}}));
}

}  // namespace svod
