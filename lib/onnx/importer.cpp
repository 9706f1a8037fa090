#include "onnx/importer.h"

#include <algorithm>
#include <cstring>

#include "onnx/onnx.h"
#include "support/suggest.h"

namespace svod {

namespace {

// Functions and graph attributes may nest and repeat; these bounds end what a small file could make large.
constexpr int kDeepest = 64;
constexpr size_t kMaxNodes = size_t{1} << 20;
constexpr size_t kMaxErrors = 1000;

std::string opName(const proto::NodeProto& node) {
  std::string domain(canonicalDomain(node.domain()));
  return domain.empty() ? node.op_type() : domain + "::" + node.op_type();
}

std::string functionKey(std::string_view domain, const std::string& name, const std::string& overload) {
  return std::string(canonicalDomain(domain)) + "::" + name + "::" + overload;
}

std::string shortened(const std::string& name) {
  constexpr size_t kLongest = 100;
  return name.size() <= kLongest ? name : name.substr(0, kLongest) + "..";
}

std::string namesOf(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string text;
  for (const std::string& n : names) {
    if (text.size() > 300) return text + ", ..";
    text += (text.empty() ? "'" : ", '") + shortened(n) + "'";
  }
  return text.empty() ? "none" : text;
}

}  // namespace

OnnxImporter::OnnxImporter(std::shared_ptr<const OnnxFile> file, const LoadOptions& options)
    : file_(std::move(file)), options_(options), known_(builder_), loader_(file_) {}

void OnnxImporter::read() {
  const proto::ModelProto& model = file_->model;
  std::optional<Opsets> opsets = opsetsOf(model.opset_import(), "the model");
  if (!opsets) return;
  opsets_ = std::move(*opsets);
  readFunctions();
  const proto::GraphProto& graph = model.graph();
  readOptions(graph);
  readDeclarations(graph);
  Body body;
  body.nodes = &graph.node();
  body.opsets = &opsets_;
  addInitializers(body, graph);
  for (const proto::ValueInfoProto& input : graph.input()) addInput(body, input);
  importNodes(body);
  for (const proto::ValueInfoProto& output : graph.output()) addOutput(body, output);
}

std::optional<OnnxImporter::Opsets> OnnxImporter::opsetsOf(
    const google::protobuf::RepeatedPtrField<proto::OperatorSetIdProto>& imports, const std::string& what) {
  Opsets all;
  for (const proto::OperatorSetIdProto& i : imports) {
    std::string domain(canonicalDomain(i.domain()));
    all[domain] = std::max(all[domain], i.version());
    if (domain.empty() && i.version() > kNewestOnnxOpset) {
      record(Diag::Unsupported, what + " uses opset " + std::to_string(i.version()),
             "opsets up to " + std::to_string(kNewestOnnxOpset) + " are supported");
      return std::nullopt;
    }
    if (i.version() < 1) {
      record(Diag::Syntax, what + " uses opset " + std::to_string(i.version()), "versions start at 1");
      return std::nullopt;
    }
  }
  constexpr int64_t kFirstIrVersionWithImports = 3;
  if (all.empty() && file_->model.ir_version() < kFirstIrVersionWithImports) all[""] = 1;
  return all;
}

void OnnxImporter::readFunctions() {
  for (const proto::FunctionProto& f : file_->model.functions()) {
    std::optional<Opsets> opsets = opsetsOf(f.opset_import(), "the function '" + shortened(f.name()) + "'");
    if (!opsets) continue;
    for (const auto& [domain, version] : opsets_) opsets->try_emplace(domain, version);
    functions_[functionKey(f.domain(), f.name(), f.overload())] = {&f, std::move(*opsets)};
  }
}

// --- Names and values

void OnnxImporter::define(Body& body, const std::string& name, Value value) {
  if (body.scope.values.try_emplace(name, value).second) return;
  record(Diag::DuplicateName, "the value '" + shortened(name) + "' is made twice" + body.place,
         "every name of a graph is defined once");
}

OnnxImporter::Value* OnnxImporter::lookup(Scope& scope, const std::string& name) {
  for (Scope* s = &scope; s; s = s->outer)
    if (auto found = s->values.find(name); found != s->values.end()) return &found->second;
  return nullptr;
}

void OnnxImporter::addInitializers(Body& body, const proto::GraphProto& graph) {
  for (const proto::TensorProto& t : graph.initializer()) define(body, t.name(), {Tensor(), &t, false});
  for (const proto::SparseTensorProto& t : graph.sparse_initializer()) {
    record(Diag::Unsupported, "the initializer '" + shortened(t.values().name()) + "' is sparse",
           "store it as a dense tensor");
    define(body, t.values().name(), {Tensor(), nullptr, true});
  }
}

// Initializers become tensors when somebody uses them.
Tensor OnnxImporter::tensorOf(Value& value, const std::string& name) {
  if (!value.data || value.tensor || value.isBroken) return value.tensor;
  Result<TensorData> data = loader_.load(*value.data);
  if (data) value.tensor = constantOf(*data, name);
  if (!data) record(data.error());
  value.isBroken = takeError() || !data;
  return value.tensor;
}

std::string OnnxImporter::uniqueName(std::string_view wanted) {
  constexpr size_t kLongest = 900;  // the builder allows 1024
  const std::string name(wanted.empty() ? "constant" : wanted.substr(0, kLongest));
  int& count = nameCounts_[name];
  if (++count == 1) return name;
  for (;; ++count)
    if (auto [it, isNew] = nameCounts_.try_emplace(name + "." + std::to_string(count), 1); isNew)
      return it->first;
}

// One number for all elements needs no storage; everything else is a weight.
Tensor OnnxImporter::constantOf(const TensorData& t, std::string_view name) {
  Dims dims;
  for (int64_t d : t.dims) dims.add(builder_.dim(d));
  size_t size = static_cast<size_t>(byteSize(t.dtype));
  bool isUniform =
      t.data.bytes >= size && std::memcmp(t.data.data, t.data.data + size, t.data.bytes - size) == 0;
  if (isUniform)
    return builder_.full(dims, builder_.constant(HostTensor::readElement(t.dtype, t.data.data, 0)));
  return builder_.weight(uniqueName(name), t.dtype, dims, t.data);
}

Tensor OnnxImporter::constantTensor(const HostTensor& value, std::string_view name) {
  auto owner = std::make_shared<const std::vector<std::byte>>(value.data);
  return constantOf({value.dtype, value.dims, {owner->data(), owner->size(), owner}}, name);
}

std::optional<HostTensor> OnnxImporter::tensorAttribute(const proto::AttributeProto& attribute) {
  Result<TensorData> t = loader_.load(attribute.t());
  if (!t) {
    builder_.fail(t.error().diag, t.error().message, t.error().help);
    return std::nullopt;
  }
  return HostTensor{t->dtype, t->dims, {t->data.data, t->data.data + t->data.bytes}};
}

// --- Errors

void OnnxImporter::record(Error error) {
  ++problems_;
  if (error.loc.file.empty()) error.loc.file = file_->path;
  if (errors_.size() < kMaxErrors) errors_.push_back(std::move(error));
  isFull_ |= errors_.size() >= kMaxErrors;
}

void OnnxImporter::record(Diag diag, std::string message, std::string help) {
  record(Error{diag, std::move(message), std::move(help), {}, {}});
}

bool OnnxImporter::takeError() {
  std::optional<Error> error = builder_.takeError();
  if (error) record(std::move(*error));
  return error.has_value();
}

void OnnxImporter::recordNode(const Body& body, const proto::NodeProto& node, Error error) {
  auto opset = body.opsets->find(canonicalDomain(node.domain()));
  std::string where = opName(node);
  where += " (opset " + (opset == body.opsets->end() ? "?" : std::to_string(opset->second)) + ")";
  if (!node.name().empty()) where += ", node '" + shortened(node.name()) + "'";
  where += body.place;
  // What is not supported often comes in many nodes; it is said once.
  std::string key = opName(node) + "\n" + error.message;
  if (error.diag == Diag::Unsupported) {
    auto [it, isNew] = repeated_.try_emplace(key, Repeated{errors_.size()});
    if (!isNew) {
      ++problems_;
      Error& first = errors_[it->second.error];
      std::string note = "the same in " + std::to_string(it->second.count++) + " more nodes";
      if (first.notes.back().starts_with("the same")) first.notes.pop_back();
      first.notes.push_back(std::move(note));
      return;
    }
  }
  error.message = where + ": " + error.message;
  error.notes.push_back("inputs " + namesOf(node.input()) + ", outputs " + namesOf(node.output()));
  record(std::move(error));
}

// --- Nodes

void OnnxImporter::importNodes(Body& body) {
  Body* outer = std::exchange(body_, &body);
  for (const proto::NodeProto& node : *body.nodes) {
    if (isFull_) break;
    if (++nodeCount_ > kMaxNodes) {
      record(Diag::TooLarge, "functions and loops expand to more than 2^20 nodes",
             "use fewer or smaller ones");
      isFull_ = true;
      break;
    }
    importNode(body, node);
  }
  body_ = outer;
}

// False when an input has an error, which was recorded.
bool OnnxImporter::gatherInputs(Body& body, const proto::NodeProto& node, std::vector<Tensor>& inputs) {
  bool isGood = true;
  for (const std::string& name : node.input()) {
    Value* value = name.empty() ? nullptr : lookup(body.scope, name);
    if (!name.empty() && !value) {
      auto makes = [&](const proto::NodeProto& n) {
        return std::ranges::find(n.output(), name) != n.output().end();
      };
      bool isLater = std::ranges::any_of(*body.nodes, makes);
      recordNode(body, node,
                 isLater ? Error{Diag::Cycle,
                                 "'" + shortened(name) + "' is used before the node that makes it",
                                 "nodes must be sorted, and no value may depend on itself",
                                 {},
                                 {}}
                         : Error{Diag::UnknownName,
                                 "no node, input or initializer makes '" + shortened(name) + "'",
                                 "the model is incomplete",
                                 {},
                                 {}});
      body.scope.values[name].isBroken = true;
      isGood = false;
      continue;
    }
    inputs.push_back(value ? tensorOf(*value, name) : Tensor());
    isGood &= !value || !value->isBroken;
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  return isGood;
}

void OnnxImporter::importNode(Body& body, const proto::NodeProto& node) {
  std::vector<Tensor> inputs, results;
  size_t problemsBefore = problems_;
  bool isGood = gatherInputs(body, node, inputs);
  auto function = functions_.find(functionKey(node.domain(), node.op_type(), node.overload()));
  bool isFunction = function != functions_.end();
  const OnnxOp* op = isFunction ? nullptr : rowOf(body, node);
  if (isGood && isFunction) results = called(body, node, function->second, inputs);
  if (isGood && op) results = lowered(body, node, *op, std::move(inputs));
  std::optional<Error> error = builder_.takeError();
  bool isBroken = !isGood || error || problems_ != problemsBefore || (!isFunction && !op);
  if (error) recordNode(body, node, std::move(*error));
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    bool has = !isBroken && i < static_cast<int>(results.size()) && results[static_cast<size_t>(i)];
    if (!has && !isBroken)
      recordNode(
          body, node,
          Error{Diag::Unsupported,
                "the output '" + shortened(name) + "' (number " + std::to_string(i) + ") is not supported",
                "leave it out: the first " + std::to_string(results.size()) + " are supported",
                {},
                {}});
    if (has) builder_.label(results[static_cast<size_t>(i)], name);
    define(body, name,
           has ? Value{results[static_cast<size_t>(i)], nullptr, false} : Value{Tensor(), nullptr, true});
  }
}

const OnnxOp* OnnxImporter::rowOf(Body& body, const proto::NodeProto& node) {
  const std::string name = opName(node);
  auto opset = body.opsets->find(canonicalDomain(node.domain()));
  if (opset == body.opsets->end()) {
    recordNode(body, node,
               Error{Diag::Syntax,
                     "no version of the domain '" + shortened(node.domain()) + "' is imported",
                     "opset_import must name every domain",
                     {},
                     {}});
    return nullptr;
  }
  int version = static_cast<int>(std::min<int64_t>(opset->second, INT32_MAX));
  if (const OnnxOp* op = findOnnxOp(name, version)) return op;
  if (std::optional<int> first = firstOnnxOpset(name)) {
    recordNode(body, node,
               Error{Diag::Unsupported,
                     "the op is not supported before opset " + std::to_string(*first),
                     "convert the model to a newer opset",
                     {},
                     {}});
  } else {
    recordNode(
        body, node,
        Error{Diag::Unsupported,
              "the op is not supported",
              didYouMean(name, onnxOpNames(), "express it with other ops, or as a function of the model"),
              {},
              {}});
  }
  return nullptr;
}

std::vector<Tensor> OnnxImporter::lowered(Body& body, const proto::NodeProto& node, const OnnxOp& op,
                                          std::vector<Tensor> inputs) {
  int count = static_cast<int>(inputs.size());
  if (count < op.minInputs || count > op.maxInputs) {
    builder_.fail(Diag::Arity, "got " + std::to_string(count) + " inputs",
                  "it takes " + std::string(op.inputs) + (op.inputs.empty() ? "none" : ""));
    return {};
  }
  std::vector<std::unique_ptr<proto::AttributeProto>> made;
  std::vector<const proto::AttributeProto*> attributes = resolveAttributes(node, body.attributes, made);
  if (Status fits = checkAttributes(op, attributes); !fits) {
    builder_.fail(fits.error().diag, fits.error().message, fits.error().help);
    return {};
  }
  std::vector<bool> wanted;
  for (const std::string& name : node.output()) wanted.push_back(!name.empty());
  int opset = static_cast<int>(body.opsets->find(canonicalDomain(node.domain()))->second);
  OnnxNode view(builder_, *this, op, opset, std::move(inputs), std::move(attributes), std::move(wanted),
                declaredDims(body, node));
  if (op.lower) return op.lower(view);
  return builder_.ops(op.graphOp, view.args(), graphAttributes(view));
}

std::vector<Tensor> OnnxImporter::called(Body& body, const proto::NodeProto& node, const Function& function,
                                         const std::vector<Tensor>& inputs) {
  const proto::FunctionProto& f = *function.proto;
  if (body.depth >= kDeepest) {
    builder_.fail(Diag::TooLarge, "functions nest deeper than 64 levels", "a function may not call itself");
    return {};
  }
  if (static_cast<int>(inputs.size()) > f.input_size()) {
    builder_.fail(Diag::Arity, "got " + std::to_string(inputs.size()) + " inputs",
                  "the function takes " + std::to_string(f.input_size()));
    return {};
  }
  Body inner;
  std::vector<std::unique_ptr<proto::AttributeProto>> made;
  for (const proto::AttributeProto& a : f.attribute_proto()) inner.attributes[a.name()] = &a;
  for (const proto::AttributeProto* a : resolveAttributes(node, body.attributes, made))
    inner.attributes[a->name()] = a;
  inner.nodes = &f.node();
  inner.opsets = &function.opsets;
  inner.place = body.place + " in function '" + shortened(f.name()) + "'";
  inner.depth = body.depth + 1;
  for (int i = 0; i < f.input_size(); ++i)
    define(inner, f.input(i),
           {i < static_cast<int>(inputs.size()) ? inputs[static_cast<size_t>(i)] : Tensor(), nullptr, false});
  importNodes(inner);
  std::vector<Tensor> results;
  for (const std::string& name : f.output()) {
    Value* value = lookup(inner.scope, name);
    if (!value)
      builder_.fail(Diag::UnknownName, "no node of the function makes its output '" + shortened(name) + "'",
                    "the model is incomplete");
    results.push_back(value ? tensorOf(*value, name) : Tensor());
  }
  return results;
}

std::vector<Tensor> OnnxImporter::subgraph(const proto::GraphProto& graph, std::span<const Tensor> inputs) {
  if (body_->depth >= kDeepest) {
    builder_.fail(Diag::TooLarge, "graphs nest deeper than 64 levels", "use fewer levels");
    return {};
  }
  if (static_cast<int>(inputs.size()) != graph.input_size()) {
    builder_.fail(Diag::Syntax, "the graph '" + shortened(graph.name()) + "' has " +
                                    std::to_string(graph.input_size()) + " inputs, not " +
                                    std::to_string(inputs.size()));
    return {};
  }
  Body inner;
  inner.scope.outer = &body_->scope;
  inner.nodes = &graph.node();
  inner.opsets = body_->opsets;
  inner.attributes = body_->attributes;
  inner.place = body_->place + " in graph '" + shortened(graph.name()) + "'";
  inner.depth = body_->depth + 1;
  for (int i = 0; i < graph.input_size(); ++i)
    define(inner, graph.input(i).name(), {inputs[static_cast<size_t>(i)], nullptr, false});
  addInitializers(inner, graph);
  size_t problemsBefore = problems_;
  importNodes(inner);
  std::vector<Tensor> results;
  for (const proto::ValueInfoProto& output : graph.output()) {
    Value* value = lookup(inner.scope, output.name());
    if (!value)
      builder_.fail(Diag::UnknownName,
                    "no node of the graph makes its output '" + shortened(output.name()) + "'",
                    "the model is incomplete");
    results.push_back(value ? tensorOf(*value, output.name()) : Tensor());
    if (!results.back()) return {};
  }
  return problems_ == problemsBefore ? results : std::vector<Tensor>();
}

// --- Entry points

bool isOnnxPath(const std::string& path) { return path.ends_with(".onnx"); }

namespace {

OnnxImport importFile(Result<std::shared_ptr<const OnnxFile>> file, const LoadOptions& options) {
  OnnxImport result;
  if (!file) {
    result.errors.push_back(file.error());
    result.model = fail(file.error());
    return result;
  }
  const proto::GraphProto& graph = (*file)->model.graph();
  result.counts = {static_cast<size_t>(graph.input_size()), static_cast<size_t>(graph.output_size()),
                   static_cast<size_t>(graph.node_size())};
  OnnxImporter importer(*file, options);
  importer.read();
  result.errors = std::move(importer.errors());
  if (result.errors.empty()) {
    result.model = importer.finish();
    if (result.model) return result;
    result.model.error().loc.file = (*file)->path;
    result.errors.push_back(result.model.error());
  }
  result.model = fail(result.errors.front());
  return result;
}

}  // namespace

OnnxImport importOnnx(const std::string& path, const LoadOptions& options) {
  return importFile(readOnnxFile(path), options);
}

OnnxImport importOnnxBytes(std::span<const std::byte> bytes, const std::string& path,
                           const LoadOptions& options) {
  return importFile(parseOnnx(bytes, path), options);
}

}  // namespace svod
