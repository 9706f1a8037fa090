// Ops that are functions of the application, by request.
#include <algorithm>

#include "onnx/attributes.h"
#include "onnx/dtypes.h"
#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/text.h"

namespace svod {

namespace {

bool isOp(const HostOpOption& option, const proto::NodeProto& node) {
  return option.op == node.op_type() && canonicalDomain(option.domain) == canonicalDomain(node.domain());
}

// An attribute as an operand: integers as i64, floats as f32, texts as u8, one number as a scalar.
std::optional<HostTensor> operandOf(const proto::AttributeProto& a) {
  auto integers = [](DType dtype, std::vector<int64_t> dims, const auto& list) {
    HostTensor x = HostTensor::zeros(dtype, std::move(dims));
    int64_t at = 0;
    for (auto v : list) x.set(at++, Scalar::ofInt(dtype, static_cast<int64_t>(v)));
    return x;
  };
  auto floats = [](std::vector<int64_t> dims, const auto& list) {
    HostTensor x = HostTensor::zeros(DType::F32, std::move(dims));
    int64_t at = 0;
    for (float v : list) x.set(at++, Scalar::of(DType::F32, static_cast<double>(v)));
    return x;
  };
  switch (typeOf(a)) {
    case kInt: return integers(DType::I64, {}, std::vector{a.i()});
    case kInts: return integers(DType::I64, {a.ints_size()}, a.ints());
    case kFloat: return floats({}, std::vector{a.f()});
    case kFloats: return floats({a.floats_size()}, a.floats());
    case kString: {
      const std::vector<unsigned char> bytes(a.s().begin(), a.s().end());
      return integers(DType::U8, {std::ssize(bytes)}, bytes);
    }
    default: return std::nullopt;
  }
}

}  // namespace

const HostOpOption* OnnxImporter::hostOpOf(const proto::NodeProto& node) const {
  auto found = std::ranges::find_if(options_.hostOps, [&](const HostOpOption& o) { return isOp(o, node); });
  return found == options_.hostOps.end() ? nullptr : &*found;
}

// What the model, or the function or graph that has the node, says of a value: null when it says nothing.
const proto::ValueInfoProto* OnnxImporter::declarationOf(const ImportedBody& body, const std::string& name) {
  for (const Declarations* list : body.declarations)
    for (const proto::ValueInfoProto& value : *list)
      if (value.name() == name && value.type().has_tensor_type()) return &value;
  return nullptr;
}

bool OnnxImporter::makesHostValue(const NodeList& nodes, const std::string& name) const {
  return std::ranges::any_of(nodes, [&](const proto::NodeProto& node) {
    if (hostOpOf(node) && std::ranges::find(node.output(), name) != node.output().end()) return true;
    return std::ranges::any_of(node.attribute(), [&](const proto::AttributeProto& a) {
      return a.has_g() && makesHostValue(a.g().node(), name);
    });
  });
}

bool OnnxImporter::isHostValue(const std::string& name) const {
  if (options_.hostOps.empty()) return false;
  return makesHostValue(file_->model.graph().node(), name) ||
         std::ranges::any_of(file_->model.functions(),
                             [&](const proto::FunctionProto& f) { return makesHostValue(f.node(), name); });
}

// The dtype that the model declares, or the option; Void and an error where neither does.
DType OnnxImporter::hostDType(const ImportedBody& body, const HostOpOption& option, const std::string& name) {
  if (option.dtype) return *option.dtype;
  const proto::ValueInfoProto* declared = declarationOf(body, name);
  const int type = declared ? declared->type().tensor_type().elem_type() : 0;
  if (type != 0) {
    Result<DType> dtype = dtypeOfOnnx(type, "the value '" + shortened(name) + "'");
    if (dtype) return *dtype;
    builder_.fail(dtype.error()->diag, dtype.error()->message, dtype.error()->help);
    return DType::Void;
  }
  builder_.fail(Diag::Unsupported, "the model does not say of what dtype '" + shortened(name) + "' is",
                "say it: " + optionText("--host-op", option.domain + ":" + option.op, "f32"));
  return DType::Void;
}

// The dims that --shape gives, or those that the model declares, by variables of its inputs.
std::optional<Dims> OnnxImporter::hostDims(const ImportedBody& body, const std::string& name) {
  Dims dims;
  if (auto given = shapes_.find(name); given != shapes_.end()) {
    for (const SizeForm& d : given->second) dims.add(sizeOf(d));
    return dims;
  }
  const proto::ValueInfoProto* declared = declarationOf(body, name);
  bool isKnown = declared && hasShape(*declared);
  for (int i = 0; isKnown && i < declared->type().tensor_type().shape().dim_size(); ++i) {
    const auto& d = declared->type().tensor_type().shape().dim(i);
    if (!isFreeDim(declared->type().tensor_type().shape(), i)) {
      dims.add(builder_.dim(d.dim_value()));
      continue;
    }
    const SizeForm form = dimNames_.formOf(*declared, i);
    isKnown = !body.isOfFunction &&
              std::ranges::all_of(form.factors, [&](const auto& f) { return inputOf_.contains(f.first); });
    if (isKnown) dims.add(sizeOf(form));
  }
  if (isKnown) return dims;
  builder_.fail(Diag::Unsupported, "the model does not say of what shape '" + shortened(name) + "' is",
                "say it by sizes and variables of inputs: " + optionText("--shape", name, "nx8"));
  return std::nullopt;
}

// Calls of the function DOMAIN:OP, one for each output that is used; :K is added to its name for output K behind the
// first. It gets the inputs, then the attributes by their names.
std::vector<Tensor> OnnxImporter::hostCalls(ImportedBody& body, const proto::NodeProto& node,
                                            const HostOpOption& option, std::vector<Tensor> operands) {
  auto refused = [&](std::string what, std::string help) -> std::vector<Tensor> {
    builder_.fail(Diag::Unsupported, std::move(what), std::move(help));
    return {};
  };
  if (std::ranges::any_of(operands, [](const Tensor& x) { return !x; }))
    return refused("an input of a host function is left out", "give it a value");
  std::map<std::string, const proto::AttributeProto*> attributes;
  std::vector<std::unique_ptr<proto::AttributeProto>> made;
  for (const proto::AttributeProto* a : resolveAttributes(node, body.attributes, made)) attributes[a->name()] = a;
  for (const auto& [name, a] : attributes) {
    std::optional<HostTensor> value = typeOf(*a) == kTensor ? tensorAttribute(*a) : operandOf(*a);
    if (builder_.failed()) return {};
    if (!value)
      return refused("the attribute '" + shortened(name) + "' of a host function",
                     "numbers, texts and tensors can be handed on");
    operands.push_back(constantTensor(*value, name));
  }
  std::vector<Tensor> results(static_cast<size_t>(node.output_size()));
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (!body.used.contains(name)) continue;
    const DType dtype = hostDType(body, option, name);
    const std::optional<Dims> dims = dtype == DType::Void ? std::nullopt : hostDims(body, name);
    if (!dims) return {};
    const std::string function = option.domain + ":" + option.op + (i > 0 ? ":" + std::to_string(i) : "");
    results[static_cast<size_t>(i)] =
        builder_.op("custom", operands, {{"function", function}, {"shape", *dims}, {"dtype", dtype}, {"pure", true}});
  }
  return results;
}

}  // namespace svod
